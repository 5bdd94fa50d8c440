use reqwest::header::{HeaderName, HeaderValue};
use serde_json::json;

use super::*;

fn headers(list: &[(&'static str, &'static str)]) -> HeaderMap {
    list.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
}

fn refused(provider: &str, status: u16, body: &str) -> Failure {
    http_failure(provider, status, &HeaderMap::new(), body.as_bytes(), 0)
}

#[test]
fn a_refused_request_has_the_class_that_its_status_and_body_say() {
    use FailureClass as C;
    let table = [
        (503, r#"{"error":{"message":"overloaded","type":"server_error"}}"#, C::Overloaded, true),
        (503, "down", C::ServerError, true),
        (500, r#"{"error":{"type":"api_error","message":"x"}}"#, C::ServerError, true),
        (408, "", C::ServerError, true),
        (409, "", C::ServerError, true),
        (529, "", C::Overloaded, true),
        (498, "capacity", C::Overloaded, true),
        (429, r#"{"error":{"message":"slow","type":"rate_limit_error"}}"#, C::RateLimited, true),
        (
            429,
            r#"{"error":{"message":"You exceeded your quota: insufficient_quota, check billing"}}"#,
            C::QuotaExhausted,
            false,
        ),
        (
            429,
            r#"{"error":{"code":"rate_limit_exceeded","message":"add a card at /account/billing"}}"#,
            C::RateLimited,
            true,
        ),
        (
            429,
            r#"{"error":{"type":"rate_limit_error","details":{"error_code":"enforced_spend_limit_reached"}}}"#,
            C::QuotaExhausted,
            false,
        ),
        (429, r#"{"error":{"code":"1308","message":"plan"}}"#, C::QuotaExhausted, false),
        (429, r#"{"error":{"code":"1302","message":"slow"}}"#, C::RateLimited, true),
        (429, "too many tokens", C::RateLimited, true),
        (402, "", C::QuotaExhausted, false),
        (400, r#"{"error":{"message":"Your credit balance is too low"}}"#, C::QuotaExhausted, false),
        (401, "billing", C::Auth, false),
        (403, "", C::Permission, false),
        (404, "", C::NotFound, false),
        (422, "", C::InvalidRequest, false),
        (400, r#"{"error":{"code":"content_filter","message":"x"}}"#, C::ContentFilter, false),
        (
            400,
            r#"{"error":{"code":null,"innererror":{"code":"ResponsibleAIPolicyViolation"},"message":"x"}}"#,
            C::ContentFilter,
            false,
        ),
        (404, r#"{"error":{"code":"DeploymentNotFound","message":"no such deployment"}}"#, C::NotFound, false),
        (429, r#"{"error":{"type":"usage_not_included","message":"not in your plan"}}"#, C::QuotaExhausted, false),
        (429, r#"{"error":{"code":"workspace_credits_depleted","message":"x"}}"#, C::QuotaExhausted, false),
        (429, r#"{"error":{"code":"slow_down","message":"x"}}"#, C::RateLimited, true),
        (400, r#"{"error":{"code":"tool_use_failed","message":"x"}}"#, C::ToolUseFailed, true),
        (400, r#"{"error":{"message":"prompt is too long"}}"#, C::ContextOverflow, false),
        (413, "rate limit", C::ContextOverflow, false),
        (500, r#"{"error":{"message":"prompt is too long"}}"#, C::ContextOverflow, false),
        (308, "", C::InvalidRequest, false),
    ];
    for (status, body, class, retryable) in table {
        let failure = refused("custom", status, body);
        assert_eq!((failure.class, failure.retryable), (class, retryable), "{status} {body}");
        assert_eq!(failure.status, Some(status));
    }
    assert_eq!(refused("cerebras", 400, "").class, FailureClass::ContextOverflow);
    assert_eq!(refused("custom", 400, "").class, FailureClass::InvalidRequest);
}

#[test]
fn the_text_shows_status_and_body_but_no_markup() {
    let json = r#"{"error":{"message":"boom"}}"#;
    let page = "<!DOCTYPE html><html><head><TITLE>502\n Bad Gateway</TITLE></head><body>x</body></html>";
    let table = [
        (503, json, "503: {\"error\":{\"message\":\"boom\"}}"),
        (502, page, "502: 502 Bad Gateway"),
        (502, "<html>x</html>", "502: (a web page)"),
        (400, " \n", "400: (no body)"),
        (500, "plain words\n", "500: plain words"),
    ];
    for (status, body, text) in table {
        assert_eq!(refused("custom", status, body).message, text);
    }
    let long = refused("custom", 500, &"é".repeat(5000)).message;
    assert_eq!(long.chars().count(), "500: ".len() + TEXT_LIMIT + 1);
}

#[test]
fn headers_give_the_wait_the_word_on_retrying_and_the_request_id() {
    let list = [("retry-after", "17"), ("x-should-retry", "false"), ("request-id", "req_9")];
    let failure = http_failure("anthropic", 429, &headers(&list), b"slow", 0);
    assert_eq!((failure.retry_after_ms, failure.retryable), (Some(17_000), false));
    assert_eq!(failure.message, "429: slow (request id: req_9)");
    let known = http_failure("anthropic", 429, &headers(&list), b"slow {req_9}", 0);
    assert_eq!(known.message, "429: slow {req_9}");
    let retry = headers(&[("x-should-retry", "true")]);
    assert!(http_failure("custom", 418, &retry, b"", 0).retryable);
    assert!(!http_failure("custom", 401, &retry, b"", 0).retryable, "a wrong key stays wrong");
}

#[test]
fn google_says_in_details_which_limit_was_met_and_what_is_wrong_with_a_key() {
    use FailureClass as C;
    let text = "You exceeded your current quota, please check your plan and billing details.";
    let limited = |quota: &str| {
        json!({"error": {"code": 429, "message": text, "status": "RESOURCE_EXHAUSTED", "details": [
            {"violations": [{"quotaId": quota}]}, {"retryDelay": "12s"}]}})
    };
    let refused_key = |reason: &str| json!({"error": {"code": 400, "message": "No.", "status": "INVALID_ARGUMENT", "details": [{"reason": reason}]}});
    let table = [
        (429, limited("RequestsPerMinute"), C::RateLimited, true, Some(12_000)),
        (429, json!([limited("RequestsPerMinute")]), C::RateLimited, true, Some(12_000)),
        (429, limited("RequestsPerDay"), C::QuotaExhausted, false, Some(12_000)),
        (
            429,
            json!({"error": {"code": 429, "message": "Resource exhausted. Try later.", "status": "RESOURCE_EXHAUSTED"}}),
            C::RateLimited,
            true,
            None,
        ),
        (
            429,
            json!({"error": {"code": 429, "message": text, "status": "RESOURCE_EXHAUSTED"}}),
            C::QuotaExhausted,
            false,
            None,
        ),
        (
            429,
            json!({"error": {"code": 429, "message": "Quota exceeded for x/generate_requests_per_minute_per_project."}}),
            C::RateLimited,
            true,
            None,
        ),
        (400, refused_key("API_KEY_INVALID"), C::Auth, false, None),
        (400, refused_key("OTHER"), C::InvalidRequest, false, None),
        (400, json!({"error": {"message": "API key not valid. Please pass a valid API key."}}), C::Auth, false, None),
        (
            503,
            json!({"error": {"message": "busy", "details": [{"retryDelay": "3s"}]}}),
            C::ServerError,
            true,
            Some(3_000),
        ),
    ];
    for (status, body, class, retryable, wait) in table {
        let failure = refused("google", status, &body.to_string());
        assert_eq!((failure.class, failure.retryable, failure.retry_after_ms), (class, retryable, wait), "{body}");
    }
    let asked = headers(&[("retry-after", "1")]);
    let body = limited("RequestsPerMinute").to_string();
    assert_eq!(
        http_failure("google", 429, &asked, body.as_bytes(), 0).retry_after_ms,
        Some(1_000),
        "headers come first"
    );
    let failure = stream_failure("google", &limited("RequestsPerMinute"));
    assert_eq!((failure.class, failure.status, failure.retry_after_ms), (C::RateLimited, Some(429), Some(12_000)));
}

#[test]
fn an_error_inside_a_stream_is_classified_by_code_type_and_text() {
    use FailureClass as C;
    let table = [
        (json!({"error": {"type": "overloaded_error", "message": "Overloaded"}}), C::Overloaded, None),
        (json!({"error": {"status": "UNAVAILABLE", "message": "The model is overloaded."}}), C::Overloaded, Some(503)),
        (json!({"error": {"status": "UNAVAILABLE", "message": "gone"}}), C::ServerError, Some(503)),
        (json!({"error": {"status": "INTERNAL", "message": "oops"}}), C::ServerError, Some(500)),
        (json!({"error": {"status": "DEADLINE_EXCEEDED", "message": "slow"}}), C::ServerError, Some(504)),
        (json!({"error": {"status": "PERMISSION_DENIED", "message": "no"}}), C::Permission, Some(403)),
        (json!({"error": {"status": "RESOURCE_EXHAUSTED", "message": "slow"}}), C::RateLimited, Some(429)),
        (json!({"error": {"type": "overloaded", "code": "server_busy", "message": "later"}}), C::Overloaded, None),
        (json!({"error": {"message": "The server had an error", "type": "server_error"}}), C::ServerError, None),
        (json!({"error": {"message": "odd"}}), C::ServerError, None),
        (json!({"error": {"code": 502, "message": "gone"}}), C::ServerError, Some(502)),
        (json!({"error": {"code": "429", "message": "slow"}}), C::RateLimited, Some(429)),
        (json!({"error": {"code": 400, "message": "bad"}}), C::InvalidRequest, Some(400)),
        (
            json!({"error": {"code": 400, "type": "exceed_context_size_error", "message": "m"}}),
            C::ContextOverflow,
            Some(400),
        ),
        (json!({"error": {"type": "rate_limit_error", "message": "m"}}), C::RateLimited, None),
        (json!({"error": {"type": "authentication_error", "message": "m"}}), C::Auth, None),
        (json!({"error": {"type": "permission_error", "message": "m"}}), C::Permission, None),
        (json!({"error": {"type": "not_found_error", "message": "m"}}), C::NotFound, None),
        (json!({"error": {"type": "billing_error", "message": "m"}}), C::QuotaExhausted, None),
        (json!({"error": {"type": "invalid_request_error", "message": "m"}}), C::InvalidRequest, None),
        (json!({"error": {"code": "invalid_prompt", "message": "m"}}), C::InvalidRequest, None),
        (json!({"error": {"code": "image_content_policy_violation", "message": "m"}}), C::ContentFilter, None),
        (json!({"type": "error", "code": "slow_down", "message": "m", "param": null}), C::RateLimited, None),
        (
            json!({"type": "error", "status": 429, "error": {"type": "usage_limit_reached", "message": "m"}}),
            C::QuotaExhausted,
            Some(429),
        ),
        (
            json!({"error": {"message": "model loaded with context length of only 4096 tokens"}}),
            C::ContextOverflow,
            None,
        ),
        (json!({"error": {"message": "m", "code": 413}}), C::ContextOverflow, Some(413)),
    ];
    for (body, class, status) in table {
        let failure = stream_failure("custom", &body);
        assert_eq!(is_overflow_text(&failure.message, "custom"), class == C::ContextOverflow, "{body}");
        assert_eq!((failure.class, failure.status), (class, status), "{body}");
    }
}

#[test]
fn a_used_up_plan_says_when_it_begins_anew() {
    let body = r#"{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_at":1793000000}}"#;
    let failure = refused("openai-codex", 429, body);
    assert_eq!((failure.class, failure.retryable), (FailureClass::QuotaExhausted, false));
    assert_eq!(failure.message, format!("429: {body} (resets at 2026-10-26 07:33 UTC)"));
    let failure = stream_failure("openai-codex", &serde_json::from_str(body).unwrap());
    assert!(failure.message.ends_with("(usage_limit_reached) (resets at 2026-10-26 07:33 UTC)"), "{failure}");
    let relative = json!({"error": {"type": "usage_limit_reached", "message": "m", "resets_in_seconds": 5401}});
    assert!(stream_failure("openai-codex", &relative).message.ends_with("(resets in 91 min)"));
    let limited = r#"{"error":{"code":"rate_limit_exceeded","resets_at":1793000000}}"#;
    assert!(!refused("openai-codex", 429, limited).message.contains("UTC"), "a short wait needs no date");
}

#[test]
fn a_success_that_is_no_event_stream_is_named() {
    let failure = wrong_body_failure("custom", "text/html", b"<TITLE lang=\"en\">Login</TITLE>");
    assert_eq!(failure.class, FailureClass::ProtocolError);
    assert_eq!(failure.message, "Expected an event stream, got text/html (Login): check the provider's baseUrl");
    let failure = wrong_body_failure("custom", "application/json", br#"{"error":{"type":"overloaded","message":"m"}}"#);
    assert_eq!(failure.class, FailureClass::Overloaded);
    assert_eq!(wrong_body_failure("custom", "application/json", b"{}").class, FailureClass::ProtocolError);
}

#[test]
fn amazons_errors_are_known_by_the_name_in_a_header_or_in_the_body() {
    use FailureClass as C;
    let address = ":http://internal.amazon.com/coral/com.amazon.bedrock/";
    let table = [
        (400, "ValidationException", r#"{"message":"prompt is too long: 9 tokens > 8 maximum"}"#, C::ContextOverflow),
        (400, "ValidationException", r#"{"message":"Input is too long for requested model."}"#, C::ContextOverflow),
        (400, "ValidationException", r#"{"message":"no"}"#, C::InvalidRequest),
        (400, "ServiceQuotaExceededException", r#"{"message":"Too many tokens: quota exceeded"}"#, C::RateLimited),
        (403, "AccessDeniedException", r#"{"Message":"no"}"#, C::Permission),
        (
            403,
            "ExpiredTokenException",
            r#"{"message":"The security token included in the request is expired"}"#,
            C::Permission,
        ),
        (404, "ResourceNotFoundException", r#"{"message":"no"}"#, C::NotFound),
        (408, "ModelTimeoutException", r#"{"message":"late"}"#, C::ServerError),
        (424, "ModelErrorException", r#"{"message":"it broke"}"#, C::InvalidRequest),
        (
            429,
            "ThrottlingException",
            r#"{"message":"Too many tokens per day, please wait before trying again."}"#,
            C::RateLimited,
        ),
        (429, "ModelNotReadyException", r#"{"message":"warming up"}"#, C::RateLimited),
        (500, "InternalServerException", r#"{"message":"oops"}"#, C::ServerError),
        (503, "ServiceUnavailableException", r#"{"message":"not now"}"#, C::ServerError),
        (503, "ServiceUnavailableException", r#"{"message":"overloaded"}"#, C::Overloaded),
    ];
    for (status, name, body, class) in table {
        let full = format!("{name}{address}");
        for (list, body) in [
            (vec![("x-amzn-errortype", name), ("x-amzn-requestid", "77c0")], body.to_owned()),
            (vec![("x-amzn-errortype", &full)], body.to_owned()),
            (vec![], body.replacen('{', &format!("{{\"__type\":\"com.amazon.coral#{name}\","), 1)),
        ] {
            let map = list
                .iter()
                .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap()));
            let failure = http_failure("amazon-bedrock", status, &map.collect(), body.as_bytes(), 0);
            assert_eq!(failure.class, class, "{status} {name} {body}");
            assert!(failure.message.contains(name), "{failure}");
            assert_eq!(failure.message.contains("request id: 77c0"), list.len() == 2, "{failure}");
            assert_eq!(is_overflow_text(&failure.message, "amazon-bedrock"), class == C::ContextOverflow, "{failure}");
        }
    }
}

#[test]
fn what_to_do_is_said_where_it_is_known() {
    let table = [
        ("Invocation of model ID x with on-demand throughput isn\u{2019}t supported. Retry", "inference profile"),
        ("on-demand throughput isn't supported", "\"us.\""),
        ("data retention mode 'none' is not available for this model", "data-retention setting"),
    ];
    for (said, hint) in table {
        let failure = refused("amazon-bedrock", 400, &json!({ "message": said }).to_string());
        assert!(failure.message.contains(hint) && failure.class == FailureClass::InvalidRequest, "{failure}");
        let streamed = stream_failure("amazon-bedrock", &json!({"message": said, "type": "validationException"}));
        assert!(streamed.message.contains(hint) && streamed.class == FailureClass::InvalidRequest, "{streamed}");
    }
}
