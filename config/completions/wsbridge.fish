# Completion of wsbridge in fish: put it into share/fish/vendor_completions.d, or ~/.config/fish/completions.

complete -c wsbridge -f
complete -c wsbridge -n __fish_use_subcommand -a serve -d 'run the bridge'
complete -c wsbridge -n __fish_use_subcommand -a check -d 'check the configuration and print it'
complete -c wsbridge -n __fish_use_subcommand -a demo -d 'run the bridge with an upstream of its own that echoes and ticks'
complete -c wsbridge -n __fish_use_subcommand -a health -d 'say by the exit code whether the bridge is alive'
complete -c wsbridge -n __fish_use_subcommand -a send -d 'send a message, or each line of the input'
complete -c wsbridge -n __fish_use_subcommand -a tail -d 'follow what arrives, over every interruption'
complete -c wsbridge -n __fish_use_subcommand -a version -d 'print the version'
complete -c wsbridge -n __fish_use_subcommand -a help -d 'explain a command'

complete -c wsbridge -n '__fish_seen_subcommand_from help' -a 'serve check demo health send tail version help'

complete -c wsbridge -n '__fish_seen_subcommand_from serve check health send tail' -l config -rF -d 'the configuration'
complete -c wsbridge -n '__fish_seen_subcommand_from serve check' -l upstream -x -d 'the server to connect to'
complete -c wsbridge -n '__fish_seen_subcommand_from serve check demo health send tail' -l listen -x -d 'where it listens'
complete -c wsbridge -n '__fish_seen_subcommand_from serve check demo' -l data-dir -x -a '(__fish_complete_directories)' -d 'where outbox, history and ids are kept'
complete -c wsbridge -n '__fish_seen_subcommand_from serve check demo' -l public -x -a '(__fish_complete_directories)' -d 'the folder of the page'
complete -c wsbridge -n '__fish_seen_subcommand_from serve check demo' -l log-level -x -a 'debug info warning error' -d 'the least that is logged'
complete -c wsbridge -n '__fish_seen_subcommand_from serve check demo' -l log-format -x -a 'text json' -d 'how it is logged'
complete -c wsbridge -n '__fish_seen_subcommand_from check' -l explain -d 'tell in words what is sent, and when'
complete -c wsbridge -n '__fish_seen_subcommand_from check' -l preset -x -a 'binance coinbase discord graphql-transport-ws home-assistant json-rpc kraken obs-websocket phoenix slack-socket-mode socket.io twitch-eventsub' -d 'look at a preset alone'
complete -c wsbridge -n '__fish_seen_subcommand_from send tail' -l connection -x -d 'which one'
complete -c wsbridge -n '__fish_seen_subcommand_from send' -l wait -x -d 'until it is written upstream, at most so long'
complete -c wsbridge -n '__fish_seen_subcommand_from tail' -l since -x -a 'start now 10m' -d 'where to begin'
complete -c wsbridge -n '__fish_seen_subcommand_from tail' -l format -x -a 'raw sse json ndjson' -d 'how it is shown'
complete -c wsbridge -n '__fish_seen_subcommand_from tail' -l types -x -a 'text binary status text,binary text,binary,status' -d 'what is shown'
