// The built-in copy of the page, and the description of the API, so that a lone binary has both. The build watches
// these files.
#include "CPublicFiles.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "../../public/index.html"
};
static const unsigned char app_css[] = {
#embed "../../public/app.css"
};
static const unsigned char app_js[] = {
#embed "../../public/app.js"
};
static const unsigned char bridge_js[] = {
#embed "../../public/bridge.js"
};
static const unsigned char connections_js[] = {
#embed "../../public/connections.js"
};
static const unsigned char elements_js[] = {
#embed "../../public/elements.js"
};
static const unsigned char entry_js[] = {
#embed "../../public/entry.js"
};
static const unsigned char feed_js[] = {
#embed "../../public/feed.js"
};
static const unsigned char follower_js[] = {
#embed "../../public/follower.js"
};
static const unsigned char format_js[] = {
#embed "../../public/format.js"
};
static const unsigned char hub_js[] = {
#embed "../../public/hub.js"
};
static const unsigned char pace_js[] = {
#embed "../../public/pace.js"
};
static const unsigned char records_js[] = {
#embed "../../public/records.js"
};
static const unsigned char ring_js[] = {
#embed "../../public/ring.js"
};
static const unsigned char row_js[] = {
#embed "../../public/row.js"
};
static const unsigned char sending_js[] = {
#embed "../../public/sending.js"
};
static const unsigned char stream_worker_js[] = {
#embed "../../public/stream-worker.js"
};
static const unsigned char icon_svg[] = {
#embed "../../public/icon.svg"
};

static const unsigned char openapi_yaml[] = {
#embed "../../openapi.yaml"
};

static const struct wsbridge_public_file files[] = {
    {"index.html", index_html, sizeof index_html},
    {"app.css", app_css, sizeof app_css},
    {"app.js", app_js, sizeof app_js},
    {"bridge.js", bridge_js, sizeof bridge_js},
    {"connections.js", connections_js, sizeof connections_js},
    {"elements.js", elements_js, sizeof elements_js},
    {"entry.js", entry_js, sizeof entry_js},
    {"feed.js", feed_js, sizeof feed_js},
    {"follower.js", follower_js, sizeof follower_js},
    {"format.js", format_js, sizeof format_js},
    {"hub.js", hub_js, sizeof hub_js},
    {"pace.js", pace_js, sizeof pace_js},
    {"records.js", records_js, sizeof records_js},
    {"ring.js", ring_js, sizeof ring_js},
    {"row.js", row_js, sizeof row_js},
    {"sending.js", sending_js, sizeof sending_js},
    {"stream-worker.js", stream_worker_js, sizeof stream_worker_js},
    {"icon.svg", icon_svg, sizeof icon_svg},
    {"openapi.yaml", openapi_yaml, sizeof openapi_yaml},
};

const struct wsbridge_public_file *wsbridge_public_file_at(size_t index) {
    return index < sizeof files / sizeof *files ? &files[index] : NULL;
}
