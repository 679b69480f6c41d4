//! Answers that are pages of a list.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::store::{Page, limit};

/// A page as a JSON array. If others follow, `Link: <?…>; rel="next"` (RFC 8288) names the next: the same query with the position
/// of this page's last item. The reference is relative, so that it holds behind a proxy that serves the cloud under a path.
pub(super) fn answer<T: Serialize, P: ToString>(
    page: &Page<T, P>,
    asked: Option<u32>,
    filters: &[(&str, Option<String>)],
) -> Response {
    let mut response = Json(&page.items).into_response();
    if let Some(next) = &page.next {
        let mut link = format!("<?limit={}", limit(asked));
        for (name, value) in filters {
            if let Some(value) = value {
                link.extend(["&", name, "=", value]);
            }
        }
        link.extend(["&after=", &next.to_string(), ">; rel=\"next\""]);
        // Filters that something matches are names and numbers: they need no escapes.
        if let Ok(link) = link.parse() {
            response.headers_mut().insert(header::LINK, link);
        }
    }
    response
}
