// The built-in copy of the page, so that a lone binary still has one. The build watches these files.
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
static const unsigned char format_js[] = {
#embed "../../public/format.js"
};
static const unsigned char records_js[] = {
#embed "../../public/records.js"
};
static const unsigned char row_js[] = {
#embed "../../public/row.js"
};
static const unsigned char sending_js[] = {
#embed "../../public/sending.js"
};
static const unsigned char icon_svg[] = {
#embed "../../public/icon.svg"
};

static const struct wsbridge_public_file files[] = {
    {"index.html", index_html, sizeof index_html},
    {"app.css", app_css, sizeof app_css},
    {"app.js", app_js, sizeof app_js},
    {"bridge.js", bridge_js, sizeof bridge_js},
    {"connections.js", connections_js, sizeof connections_js},
    {"format.js", format_js, sizeof format_js},
    {"records.js", records_js, sizeof records_js},
    {"row.js", row_js, sizeof row_js},
    {"sending.js", sending_js, sizeof sending_js},
    {"icon.svg", icon_svg, sizeof icon_svg},
};

const struct wsbridge_public_file *wsbridge_public_file_at(size_t index) {
    return index < sizeof files / sizeof *files ? &files[index] : NULL;
}
