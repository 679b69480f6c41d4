//! Answers with one page of a list.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sotto_api::{Query, link};

use crate::store::{Page, limit};

/// Returns a page as a JSON array. If more items follow, the header `Link` names the next page: `next`, the same query
/// with the position of this page's last item and the number of items.
///
/// The reference is relative, so that it works behind a proxy that serves the cloud under a path.
pub(super) fn answer<T: Serialize, P, Q: Query>(
    page: Page<T, P>,
    asked: Option<u32>,
    next: impl FnOnce(Option<P>, Option<u32>) -> Q,
) -> Response {
    let mut response = Json(&page.items).into_response();
    if page.next.is_some() {
        let query = next(page.next, Some(limit(asked) as u32)).text();
        if let Ok(link) = link(&query).parse() {
            response.headers_mut().insert(header::LINK, link);
        }
    }
    response
}
