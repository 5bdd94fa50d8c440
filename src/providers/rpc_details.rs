//! What Google's services add to an error: the name of its status, and details on quotas and waiting.

use serde_json::Value;

use super::retry_after::seconds_to_millis;

/// What the details of an error say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RpcDetails {
    /// The finer reason, such as `API_KEY_INVALID`.
    pub reason: Option<String>,
    /// Which limit was met; `None` when the details speak of none.
    pub limit: Option<Limit>,
    /// When to try again, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

/// A limit on requests or tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Of a short time: it passes by itself.
    Rate,
    /// Of a day.
    Quota,
}

impl RpcDetails {
    /// Reads `error.details` when it is a list (rule G7).
    pub(crate) fn read(details: &Value) -> Self {
        let mut read = Self::default();
        for detail in details.as_array().into_iter().flatten() {
            read.reason = read.reason.or_else(|| detail["reason"].as_str().map(str::to_owned));
            if let Some(delay) = detail["retryDelay"].as_str().and_then(duration) {
                read.retry_after_ms = Some(delay);
                read.limit.get_or_insert(Limit::Rate);
            }
            let violated = detail["violations"].as_array().into_iter().flatten().map(|violation| &violation["quotaId"]);
            for name in violated.chain([&detail["metadata"]["quota_limit"]]).filter_map(Value::as_str) {
                read.meets(name);
            }
        }
        read
    }

    /// A quota of that name was met. The longest one decides: after a minute, that of the day is still used up.
    fn meets(&mut self, name: &str) {
        match name.contains("PerDay") {
            true => self.limit = Some(Limit::Quota),
            false => drop(self.limit.get_or_insert(Limit::Rate)),
        }
    }
}

/// A duration in the JSON of protocol buffers: seconds with an `s` behind, such as `46.5s`.
fn duration(text: &str) -> Option<u64> {
    seconds_to_millis(text.trim().strip_suffix('s')?)
}

/// The HTTP status that the name of a status stands for.
pub(crate) fn http_status(name: &str) -> Option<u16> {
    Some(match name {
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "OUT_OF_RANGE" => 400,
        "UNAUTHENTICATED" => 401,
        "PERMISSION_DENIED" => 403,
        "NOT_FOUND" => 404,
        "ABORTED" => 409,
        "RESOURCE_EXHAUSTED" => 429,
        "INTERNAL" | "UNKNOWN" => 500,
        "UNAVAILABLE" => 503,
        "DEADLINE_EXCEEDED" => 504,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn details_tell_the_reason_the_limit_and_the_wait() {
        let quota = |ids: &[&str]| {
            let violations: Vec<_> = ids.iter().map(|id| json!({"quotaId": id, "quotaMetric": "m"})).collect();
            json!({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": violations})
        };
        let retry = |delay: &str| json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay});
        let (minute, day) = ("RequestsPerMinutePerProject", "GenerateRequestsPerDayPerProjectPerModel-FreeTier");
        let table = [
            (json!([quota(&[minute]), retry("46.5s")]), Some(Limit::Rate), Some(46_500)),
            (json!([retry("3600s"), quota(&[day])]), Some(Limit::Quota), Some(3_600_000)),
            (json!([quota(&[day, minute])]), Some(Limit::Quota), None),
            (json!([quota(&[minute, day])]), Some(Limit::Quota), None),
            (json!([{"reason": "RATE_LIMIT_EXCEEDED", "metadata": {"quota_limit": minute}}]), Some(Limit::Rate), None),
            (json!([{"reason": "RATE_LIMIT_EXCEEDED", "metadata": {"quota_limit": day}}]), Some(Limit::Quota), None),
            (json!([retry("0s")]), Some(Limit::Rate), Some(0)),
            (json!([retry("0.000000001s")]), Some(Limit::Rate), Some(0)),
            (json!([retry("soon"), {"retryDelay": 5}, {"violations": [{}]}, 7]), None, None),
            (json!({"error_code": "x"}), None, None),
            (json!(null), None, None),
        ];
        for (details, limit, wait) in table {
            let read = RpcDetails::read(&details);
            assert_eq!((read.limit, read.retry_after_ms), (limit, wait), "{details}");
        }
        let reasons = json!([{"links": []}, {"reason": "API_KEY_INVALID"}, {"reason": "OTHER"}]);
        assert_eq!(RpcDetails::read(&reasons).reason.as_deref(), Some("API_KEY_INVALID"));
    }
}
