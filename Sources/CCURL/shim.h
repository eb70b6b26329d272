#pragma once
#include <curl/curl.h>

// libcurl's setters take a variable argument, which Swift cannot pass: one function for each type.

static inline CURLcode wsbridge_easy_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode wsbridge_easy_set_text(CURL *easy, CURLoption option, const char *text) {
  return curl_easy_setopt(easy, option, text);
}

static inline CURLcode wsbridge_easy_set_pointer(CURL *easy, CURLoption option, void *pointer) {
  return curl_easy_setopt(easy, option, pointer);
}

static inline CURLcode wsbridge_easy_set_headers(CURL *easy, struct curl_slist *list) {
  return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
}

static inline CURLcode wsbridge_easy_set_body(CURL *easy, const char *bytes, curl_off_t count) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, count);
  return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, bytes) : code;
}

static inline CURLcode wsbridge_easy_on_body(
    CURL *easy, size_t (*receive)(char *, size_t, size_t, void *), void *owner) {
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, owner);
  return curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
}

static inline long wsbridge_easy_status(CURL *easy) {
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

static inline curl_off_t wsbridge_easy_retry_after(CURL *easy) {
  curl_off_t seconds = 0;
  curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &seconds);
  return seconds;
}

static inline CURLMcode wsbridge_multi_on_socket(
    CURLM *multi, int (*watch)(CURL *, curl_socket_t, int, void *, void *), void *owner) {
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, owner);
  return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
}

static inline CURLMcode wsbridge_multi_on_timer(CURLM *multi, int (*wait)(CURLM *, long, void *), void *owner) {
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, owner);
  return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, wait);
}

// The next transfer that is over, with its code; NULL if there is none.
static inline CURL *wsbridge_multi_next_over(CURLM *multi, CURLcode *code) {
  int left;
  CURLMsg *message;
  while ((message = curl_multi_info_read(multi, &left))) {
    if (message->msg != CURLMSG_DONE) continue;
    *code = message->data.result;
    return message->easy_handle;
  }
  return NULL;
}
