//! An HTTP address as a sink of events.

use std::time::Duration;

use sotto_http::Trust;
use sotto_owner::alarm::Event;

/// Posts an event as JSON. The header `Idempotency-Key` is its id, the same at every attempt.
///
/// # Errors
/// The reason, if the server is away, does not answer within `limit`, or answers with another status than 2xx.
pub(super) fn post(url: &str, trust: &Trust, event: &Event, limit: Duration) -> Result<(), String> {
    let config = ureq::Agent::config_builder()
        .tls_config(trust.tls_config())
        .timeout_global(Some(limit))
        .http_status_as_error(false)
        // Elsewhere an event may be lost, or read by somebody else.
        .max_redirects(0)
        .build();
    let agent = ureq::Agent::new_with_config(config);
    let sent = agent.post(url).header("Idempotency-Key", &event.id).send_json(event);
    match sent {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) => Err(format!("{} answered {}", server(url), answer.status())),
        Err(error) => Err(trust.explain(server(url), &error)),
    }
}

/// Returns an address without its path, which may hold a secret.
fn server(url: &str) -> &str {
    let begin = url.find("://").map_or(0, |at| at + 3);
    let end = url[begin..].find(['/', '?', '#']).map_or(url.len(), |at| begin + at);
    let login = url[begin..end].rfind('@').map_or(begin, |at| begin + at + 1);
    if login == begin { &url[..end] } else { &url[login..end] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_server_alone() {
        for (url, shown) in [
            ("https://h:1/secret?token=2", "https://h:1"),
            ("https://user:word@h/x", "h"),
            ("http://h", "http://h"),
        ] {
            assert_eq!(server(url), shown);
        }
    }
}
