#pragma once
// Types and constants alone: the functions are looked up when libcurl is loaded.
#include <curl/curl.h>

// libcurl brings some thirty libraries, for which only those are to pay who ask an HTTP server for a URL: it is
// loaded when it is first needed. Its setters take a variable argument, which Swift cannot pass: here is one for
// each type. All of this is for one thread.

/// Loads libcurl unless that is done; NULL, or why it cannot be used. Call it before anything else.
const char *_Nullable wsbridge_curl_load(void);

CURL *_Nullable wsbridge_easy_make(void);
void wsbridge_easy_free(CURL *_Nonnull easy);
CURLcode wsbridge_easy_set_long(CURL *_Nonnull easy, CURLoption option, long value);
CURLcode wsbridge_easy_set_text(CURL *_Nonnull easy, CURLoption option, const char *_Nonnull text);
CURLcode wsbridge_easy_set_pointer(CURL *_Nonnull easy, CURLoption option, void *_Nonnull pointer);
CURLcode wsbridge_easy_set_body(CURL *_Nonnull easy, const char *_Nonnull bytes, curl_off_t count);
CURLcode wsbridge_easy_set_headers(CURL *_Nonnull easy, struct curl_slist *_Nullable list);

/// Gets a piece of an answer, and returns how much of it was wanted.
typedef size_t (*wsbridge_take)(char *_Nullable bytes, size_t size, size_t count, void *_Nullable owner);
CURLcode wsbridge_easy_on_head(CURL *_Nonnull easy, wsbridge_take _Nonnull take, void *_Nonnull owner);
CURLcode wsbridge_easy_on_body(CURL *_Nonnull easy, wsbridge_take _Nonnull take, void *_Nonnull owner);

/// The status of the answer; 0 if none came.
long wsbridge_easy_status(CURL *_Nonnull easy);
/// A field of the answer; NULL unless it is there just once. Valid until the next call.
const char *_Nullable wsbridge_easy_field(CURL *_Nonnull easy, const char *_Nonnull name);
const char *_Nonnull wsbridge_easy_text(CURLcode code);

struct curl_slist *_Nullable wsbridge_list_append(
    struct curl_slist *_Nullable list, const char *_Nonnull line);
void wsbridge_list_free(struct curl_slist *_Nullable list);

CURLM *_Nullable wsbridge_multi_make(void);
void wsbridge_multi_free(CURLM *_Nonnull multi);
CURLMcode wsbridge_multi_add(CURLM *_Nonnull multi, CURL *_Nonnull easy);
CURLMcode wsbridge_multi_remove(CURLM *_Nonnull multi, CURL *_Nonnull easy);
CURLMcode wsbridge_multi_act(CURLM *_Nonnull multi, curl_socket_t descriptor, int events);
CURLMcode wsbridge_multi_on_socket(
    CURLM *_Nonnull multi, curl_socket_callback _Nullable watch, void *_Nullable owner);
CURLMcode wsbridge_multi_on_timer(
    CURLM *_Nonnull multi, curl_multi_timer_callback _Nullable wait, void *_Nullable owner);
/// The next transfer that is over, with its code; NULL if there is none.
CURL *_Nullable wsbridge_multi_next_over(CURLM *_Nonnull multi, CURLcode *_Nonnull code);
