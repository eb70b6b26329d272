#include "CCURL.h"
#include <dlfcn.h>

// Macros that check types, and would call what is not linked.
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

// Each is declared as libcurl's header has it.
#define FUNCTIONS(F) \
    F(curl_global_init) \
    F(curl_easy_init) \
    F(curl_easy_cleanup) \
    F(curl_easy_setopt) \
    F(curl_easy_getinfo) \
    F(curl_easy_header) \
    F(curl_easy_strerror) \
    F(curl_slist_append) \
    F(curl_slist_free_all) \
    F(curl_multi_init) \
    F(curl_multi_cleanup) \
    F(curl_multi_add_handle) \
    F(curl_multi_remove_handle) \
    F(curl_multi_setopt) \
    F(curl_multi_socket_action) \
    F(curl_multi_info_read)

#define DECLARE(name) __typeof__(name) *name##_;
static struct {
    FUNCTIONS(DECLARE)
} library;

static const char *load(void) {
    // Never closed: it has threads, and what OpenSSL and others registered for the end of the process.
    void *handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return dlerror();
#define FIND(name) \
    library.name##_ = (__typeof__(name) *)dlsym(handle, #name); \
    if (!library.name##_) return "it is too old";
    FUNCTIONS(FIND)
    return library.curl_global_init_(CURL_GLOBAL_DEFAULT) == CURLE_OK ? NULL : "it does not start";
}

const char *wsbridge_curl_load(void) {
    static int is_ready = 0;
    if (is_ready) return NULL;
    const char *fault = load();
    is_ready = !fault;
    return fault;
}

CURL *wsbridge_easy_make(void) { return library.curl_easy_init_(); }

void wsbridge_easy_free(CURL *easy) { library.curl_easy_cleanup_(easy); }

CURLcode wsbridge_easy_set_long(CURL *easy, CURLoption option, long value) {
    return library.curl_easy_setopt_(easy, option, value);
}

CURLcode wsbridge_easy_set_text(CURL *easy, CURLoption option, const char *text) {
    return library.curl_easy_setopt_(easy, option, text);
}

CURLcode wsbridge_easy_set_pointer(CURL *easy, CURLoption option, void *pointer) {
    return library.curl_easy_setopt_(easy, option, pointer);
}

CURLcode wsbridge_easy_set_body(CURL *easy, const char *bytes, curl_off_t count) {
    CURLcode code = library.curl_easy_setopt_(easy, CURLOPT_POSTFIELDSIZE_LARGE, count);
    return code == CURLE_OK ? library.curl_easy_setopt_(easy, CURLOPT_COPYPOSTFIELDS, bytes) : code;
}

CURLcode wsbridge_easy_set_headers(CURL *easy, struct curl_slist *list) {
    return library.curl_easy_setopt_(easy, CURLOPT_HTTPHEADER, list);
}

CURLcode wsbridge_easy_on_head(CURL *easy, wsbridge_take take, void *owner) {
    library.curl_easy_setopt_(easy, CURLOPT_HEADERDATA, owner);
    return library.curl_easy_setopt_(easy, CURLOPT_HEADERFUNCTION, take);
}

CURLcode wsbridge_easy_on_body(CURL *easy, wsbridge_take take, void *owner) {
    library.curl_easy_setopt_(easy, CURLOPT_WRITEDATA, owner);
    return library.curl_easy_setopt_(easy, CURLOPT_WRITEFUNCTION, take);
}

long wsbridge_easy_status(CURL *easy) {
    long status = 0;
    library.curl_easy_getinfo_(easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

const char *wsbridge_easy_field(CURL *easy, const char *name) {
    struct curl_header *field;
    CURLHcode code = library.curl_easy_header_(easy, name, 0, CURLH_HEADER, -1, &field);
    return code == CURLHE_OK && field->amount == 1 ? field->value : NULL;
}

const char *wsbridge_easy_text(CURLcode code) { return library.curl_easy_strerror_(code); }

struct curl_slist *wsbridge_list_append(struct curl_slist *list, const char *line) {
    return library.curl_slist_append_(list, line);
}

void wsbridge_list_free(struct curl_slist *list) { library.curl_slist_free_all_(list); }

CURLM *wsbridge_multi_make(void) { return library.curl_multi_init_(); }

void wsbridge_multi_free(CURLM *multi) { library.curl_multi_cleanup_(multi); }

CURLMcode wsbridge_multi_add(CURLM *multi, CURL *easy) {
    return library.curl_multi_add_handle_(multi, easy);
}

CURLMcode wsbridge_multi_remove(CURLM *multi, CURL *easy) {
    return library.curl_multi_remove_handle_(multi, easy);
}

CURLMcode wsbridge_multi_act(CURLM *multi, curl_socket_t descriptor, int events) {
    int running;
    return library.curl_multi_socket_action_(multi, descriptor, events, &running);
}

CURLMcode wsbridge_multi_on_socket(CURLM *multi, curl_socket_callback watch, void *owner) {
    library.curl_multi_setopt_(multi, CURLMOPT_SOCKETDATA, owner);
    return library.curl_multi_setopt_(multi, CURLMOPT_SOCKETFUNCTION, watch);
}

CURLMcode wsbridge_multi_on_timer(CURLM *multi, curl_multi_timer_callback wait, void *owner) {
    library.curl_multi_setopt_(multi, CURLMOPT_TIMERDATA, owner);
    return library.curl_multi_setopt_(multi, CURLMOPT_TIMERFUNCTION, wait);
}

CURL *wsbridge_multi_next_over(CURLM *multi, CURLcode *code) {
    int left;
    CURLMsg *message;
    while ((message = library.curl_multi_info_read_(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        *code = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}
