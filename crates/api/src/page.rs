//! Lists in pages.

use serde::de::DeserializeOwned;

use crate::message::{Arrived, Unreadable};

/// Longest reference to the next page, in bytes.
const LONGEST_REFERENCE: usize = 2048;

/// A page of a list.
///
/// ```
/// use sotto_api::devices::ListDevices;
/// use sotto_api::{Arrived, Route as _};
///
/// let headers = vec![("link", r#"<?limit=1&after=attic>; rel="next""#)];
/// let page = ListDevices::read(Arrived { body: b"[]".to_vec(), headers })?;
/// assert_eq!((page.items.len(), page.next.as_deref()), (0, Some("?limit=1&after=attic")));
/// # Ok::<(), sotto_api::Unreadable>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The items, in the list's order.
    pub items: Vec<T>,
    /// The query of the next page, `?…`; `None` on the last one.
    pub next: Option<String>,
}

impl<T: DeserializeOwned> Page<T> {
    pub(crate) fn read(answer: &Arrived<'_>) -> Result<Self, Unreadable> {
        Ok(Self { items: serde_json::from_slice(&answer.body)?, next: answer.values("link").find_map(next) })
    }
}

/// Returns a value of the header `Link` that leads to the page that `query` (`?…`) names.
#[must_use]
pub fn link(query: &str) -> String {
    format!("<{query}>; rel=\"next\"")
}

/// Reads `<?query>; rel="next"` (RFC 8288). Ignores other forms: no client follows a link to another resource.
fn next(link: &str) -> Option<String> {
    let (reference, parameters) = link.strip_prefix('<')?.split_once('>')?;
    let is_next = parameters.split(';').any(|parameter| parameter.trim() == "rel=\"next\"");
    let is_query = reference.starts_with('?') && reference.bytes().all(|byte| byte.is_ascii_graphic());
    (is_next && is_query && reference.len() <= LONGEST_REFERENCE && !reference.contains('#'))
        .then(|| reference.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_query_is_a_next_page() {
        assert_eq!(next(&link("?after=a/b/3")), Some("?after=a/b/3".to_owned()));
        let long = format!("<?{}>; rel=\"next\"", "a".repeat(LONGEST_REFERENCE));
        for other in [
            r#"<?after=3>; rel="prev""#,
            r#"<http://example.org/?after=3>; rel="next""#,
            r#"</v1/devices?after=3>; rel="next""#,
            r#"<?after=3 HTTP/1.1>; rel="next""#,
            "?after=3",
            &long,
        ] {
            assert_eq!(next(other), None, "{other}");
        }
    }
}
