//! Answers with one page of a list.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::store::{Page, limit};

/// Returns a page as a JSON array. If more items follow, `Link: <?…>; rel="next"` (RFC 8288) names the next page: the
/// same query with the position of this page's last item.
///
/// The reference is relative, so that it works behind a proxy that serves the cloud under a path.
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
        // A filter that matched something is a name or a number, so it needs no escapes.
        if let Ok(link) = link.parse() {
            response.headers_mut().insert(header::LINK, link);
        }
    }
    response
}
