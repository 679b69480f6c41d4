//! The files of the page, made by `npm run build` in apps/sotto/page.

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;

use std::sync::Arc;

use super::Console;

/// The licence texts of the libraries in the page.
pub(super) const LICENCES: &str = include_str!("../../page/dist/licences.txt");

/// Each file: its path, its kind, its bytes.
const FILES: [(&str, &str, &[u8]); 4] = [
    ("/", "text/html; charset=utf-8", include_bytes!("../../page/dist/index.html")),
    ("/page.js", "text/javascript; charset=utf-8", include_bytes!("../../page/dist/page.js")),
    ("/page.css", "text/css; charset=utf-8", include_bytes!("../../page/dist/page.css")),
    ("/favicon.svg", "image/svg+xml", include_bytes!("../../page/dist/favicon.svg")),
];

pub(super) fn routes() -> Router<Arc<Console>> {
    FILES.into_iter().fold(Router::new(), |router, (path, kind, bytes)| {
        router
            .route(path, get(move || async move { ([(header::CONTENT_TYPE, kind)], bytes).into_response() }))
    })
}
