// The built-in copies of the presets, so that a lone binary has them. The build watches these files.
#include "CPublicFiles.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char binance[] = {
#embed "../../config/presets/binance.yaml"
};
static const unsigned char coinbase[] = {
#embed "../../config/presets/coinbase.yaml"
};
static const unsigned char discord[] = {
#embed "../../config/presets/discord.yaml"
};
static const unsigned char graphql_transport_ws[] = {
#embed "../../config/presets/graphql-transport-ws.yaml"
};
static const unsigned char home_assistant[] = {
#embed "../../config/presets/home-assistant.yaml"
};
static const unsigned char json_rpc[] = {
#embed "../../config/presets/json-rpc.yaml"
};
static const unsigned char kraken[] = {
#embed "../../config/presets/kraken.yaml"
};
static const unsigned char obs_websocket[] = {
#embed "../../config/presets/obs-websocket.yaml"
};
static const unsigned char phoenix[] = {
#embed "../../config/presets/phoenix.yaml"
};
static const unsigned char slack_socket_mode[] = {
#embed "../../config/presets/slack-socket-mode.yaml"
};
static const unsigned char socket_io[] = {
#embed "../../config/presets/socket.io.yaml"
};
static const unsigned char twitch_eventsub[] = {
#embed "../../config/presets/twitch-eventsub.yaml"
};

static const struct wsbridge_public_file presets[] = {
    {"binance", binance, sizeof binance},
    {"coinbase", coinbase, sizeof coinbase},
    {"discord", discord, sizeof discord},
    {"graphql-transport-ws", graphql_transport_ws, sizeof graphql_transport_ws},
    {"home-assistant", home_assistant, sizeof home_assistant},
    {"json-rpc", json_rpc, sizeof json_rpc},
    {"kraken", kraken, sizeof kraken},
    {"obs-websocket", obs_websocket, sizeof obs_websocket},
    {"phoenix", phoenix, sizeof phoenix},
    {"slack-socket-mode", slack_socket_mode, sizeof slack_socket_mode},
    {"socket.io", socket_io, sizeof socket_io},
    {"twitch-eventsub", twitch_eventsub, sizeof twitch_eventsub},
};

const struct wsbridge_public_file *wsbridge_preset_at(size_t index) {
    return index < sizeof presets / sizeof *presets ? &presets[index] : NULL;
}
