//! A session of any length.

use std::path::Path;

use serde_json::json;

/// The lines of a session of a folder: prompts and answers in turn, in a chain. The last says `message N`, where N is
/// one less than their number.
pub fn long_session(cwd: &Path, entries: usize) -> String {
    let time = "2026-01-02T03:04:05.000Z";
    let header = json!({"type": "session", "version": 3, "id": "00000000-0000-7000-8000-00000000abcd", "timestamp": time,
        "cwd": cwd});
    let mut lines = format!("{header}\n");
    let usage = json!({"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}});
    let mut parent = json!(null);
    for n in 0..entries {
        let text = json!([{"type": "text", "text": format!("Some `words` of **message {n}**, and a few more of them.\n\nmessage {n}")}]);
        let message = if n % 2 == 0 {
            json!({"role": "user", "content": text, "timestamp": n})
        } else {
            json!({"role": "assistant", "content": text, "api": "openai-completions", "provider": "mock", "model": "m1",
                "usage": usage, "stopReason": "stop", "timestamp": n})
        };
        let id = json!(format!("{n:08x}"));
        let entry = json!({"type": "message", "id": id, "parentId": parent, "timestamp": time, "message": message});
        parent = id;
        lines.push_str(&format!("{entry}\n"));
    }
    lines
}
