#include "CEmbedded.h"

// Compilers know the directive of C23 in older C, too, and may warn of it.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char page_api_js[] = {
#embed "../Understudy/Page/Files/api.js"
};
static const unsigned char page_app_js[] = {
#embed "../Understudy/Page/Files/app.js"
};
static const unsigned char page_checks_js[] = {
#embed "../Understudy/Page/Files/checks.js"
};
static const unsigned char page_compare_js[] = {
#embed "../Understudy/Page/Files/compare.js"
};
static const unsigned char page_copies_js[] = {
#embed "../Understudy/Page/Files/copies.js"
};
static const unsigned char page_description_js[] = {
#embed "../Understudy/Page/Files/description.js"
};
static const unsigned char page_dom_js[] = {
#embed "../Understudy/Page/Files/dom.js"
};
static const unsigned char page_entry_js[] = {
#embed "../Understudy/Page/Files/entry.js"
};
static const unsigned char page_explain_js[] = {
#embed "../Understudy/Page/Files/explain.js"
};
static const unsigned char page_faults_js[] = {
#embed "../Understudy/Page/Files/faults.js"
};
static const unsigned char page_feed_js[] = {
#embed "../Understudy/Page/Files/feed.js"
};
static const unsigned char page_icon_svg[] = {
#embed "../Understudy/Page/Files/icon.svg"
};
static const unsigned char page_index_html[] = {
#embed "../Understudy/Page/Files/index.html"
};
static const unsigned char page_journal_js[] = {
#embed "../Understudy/Page/Files/journal.js"
};
static const unsigned char page_keys_js[] = {
#embed "../Understudy/Page/Files/keys.js"
};
static const unsigned char page_routes_js[] = {
#embed "../Understudy/Page/Files/routes.js"
};
static const unsigned char page_rows_js[] = {
#embed "../Understudy/Page/Files/rows.js"
};
static const unsigned char page_sample_js[] = {
#embed "../Understudy/Page/Files/sample.js"
};
static const unsigned char page_sandboxes_js[] = {
#embed "../Understudy/Page/Files/sandboxes.js"
};
static const unsigned char page_scenarios_js[] = {
#embed "../Understudy/Page/Files/scenarios.js"
};
static const unsigned char page_settings_js[] = {
#embed "../Understudy/Page/Files/settings.js"
};
static const unsigned char page_socket_js[] = {
#embed "../Understudy/Page/Files/socket.js"
};
static const unsigned char page_sources_js[] = {
#embed "../Understudy/Page/Files/sources.js"
};
static const unsigned char page_sources_md[] = {
#embed "../Understudy/Understudy.docc/Sources.md"
};
static const unsigned char page_state_js[] = {
#embed "../Understudy/Page/Files/state.js"
};
static const unsigned char page_style_css[] = {
#embed "../Understudy/Page/Files/style.css"
};
static const unsigned char page_timeline_js[] = {
#embed "../Understudy/Page/Files/timeline.js"
};
static const unsigned char page_token_js[] = {
#embed "../Understudy/Page/Files/token.js"
};
static const unsigned char page_tokens_js[] = {
#embed "../Understudy/Page/Files/tokens.js"
};
static const unsigned char page_words_js[] = {
#embed "../Understudy/Page/Files/words.js"
};
static const unsigned char control_openapi_yaml[] = {
#embed "../Understudy/Control/Files/openapi.yaml"
};

#define FILE(path, array) {path, array, sizeof array}
static const struct embedded_file files[] = {
    FILE("page/api.js", page_api_js),
    FILE("page/app.js", page_app_js),
    FILE("page/checks.js", page_checks_js),
    FILE("page/compare.js", page_compare_js),
    FILE("page/copies.js", page_copies_js),
    FILE("page/description.js", page_description_js),
    FILE("page/dom.js", page_dom_js),
    FILE("page/entry.js", page_entry_js),
    FILE("page/explain.js", page_explain_js),
    FILE("page/faults.js", page_faults_js),
    FILE("page/feed.js", page_feed_js),
    FILE("page/icon.svg", page_icon_svg),
    FILE("page/index.html", page_index_html),
    FILE("page/journal.js", page_journal_js),
    FILE("page/keys.js", page_keys_js),
    FILE("page/routes.js", page_routes_js),
    FILE("page/rows.js", page_rows_js),
    FILE("page/sample.js", page_sample_js),
    FILE("page/sandboxes.js", page_sandboxes_js),
    FILE("page/scenarios.js", page_scenarios_js),
    FILE("page/settings.js", page_settings_js),
    FILE("page/socket.js", page_socket_js),
    FILE("page/sources.js", page_sources_js),
    FILE("page/sources.md", page_sources_md),
    FILE("page/state.js", page_state_js),
    FILE("page/style.css", page_style_css),
    FILE("page/timeline.js", page_timeline_js),
    FILE("page/token.js", page_token_js),
    FILE("page/tokens.js", page_tokens_js),
    FILE("page/words.js", page_words_js),
    FILE("control/openapi.yaml", control_openapi_yaml),
};

size_t embedded_file_count(void) { return sizeof files / sizeof *files; }

struct embedded_file embedded_file_at(size_t index) { return files[index]; }
