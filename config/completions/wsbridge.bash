# Completion of wsbridge in bash: source it, or put it into share/bash-completion/completions/wsbridge.
# shellcheck shell=bash disable=SC2207

_wsbridge() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]-}
    local common="--listen --data-dir --public --log-level --log-format"
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "serve check demo health send tail version help" -- "$current"))
        return
    fi
    case $previous in
    --config)
        COMPREPLY=($(compgen -f -- "$current"))
        compopt -o filenames 2>/dev/null
        return
        ;;
    --data-dir | --public)
        COMPREPLY=($(compgen -d -- "$current"))
        compopt -o filenames 2>/dev/null
        return
        ;;
    --log-level)
        COMPREPLY=($(compgen -W "debug info warning error" -- "$current"))
        return
        ;;
    --log-format)
        COMPREPLY=($(compgen -W "text json" -- "$current"))
        return
        ;;
    --format)
        COMPREPLY=($(compgen -W "raw sse json ndjson" -- "$current"))
        return
        ;;
    --since)
        COMPREPLY=($(compgen -W "start now 10m" -- "$current"))
        return
        ;;
    --types)
        COMPREPLY=($(compgen -W "text binary text,binary status text,binary,status" -- "$current"))
        return
        ;;
    --preset)
        COMPREPLY=($(compgen -W "binance coinbase discord graphql-transport-ws home-assistant json-rpc kraken \
            obs-websocket phoenix slack-socket-mode socket.io twitch-eventsub" -- "$current"))
        return
        ;;
    --upstream | --listen | --connection | --wait)
        return
        ;;
    esac
    case $command in
    serve) COMPREPLY=($(compgen -W "--config --upstream $common" -- "$current")) ;;
    check) COMPREPLY=($(compgen -W "--config --upstream $common --explain --preset" -- "$current")) ;;
    demo) COMPREPLY=($(compgen -W "$common" -- "$current")) ;;
    health) COMPREPLY=($(compgen -W "--config --listen" -- "$current")) ;;
    send) COMPREPLY=($(compgen -W "--connection --wait --config --listen" -- "$current")) ;;
    tail)
        COMPREPLY=($(compgen -W "--connection --since --format --types --config --listen" -- "$current"))
        ;;
    help)
        [ "$COMP_CWORD" -ne 2 ] ||
            COMPREPLY=($(compgen -W "serve check demo health send tail version help" -- "$current"))
        ;;
    esac
}

complete -F _wsbridge wsbridge
