//! Pages of a list.

/// Default number of items in a page.
const DEFAULT_PAGE: u32 = 100;
/// Maximum number of items in a page.
pub(crate) const LARGEST_PAGE: u32 = 1000;

/// Items in the list's order, and the position of the last one if more items follow.
#[derive(Debug)]
pub(crate) struct Page<T, P> {
    pub(crate) items: Vec<T>,
    pub(crate) next: Option<P>,
}

/// Returns the number of items in a page.
pub(crate) fn limit(asked: Option<u32>) -> usize {
    asked.unwrap_or(DEFAULT_PAGE).min(LARGEST_PAGE) as usize
}

impl<T, P> Page<T, P> {
    /// Makes a page from up to `limit` + 1 items; the extra one shows that more follow.
    pub(super) fn cut(mut items: Vec<T>, limit: usize, position: impl Fn(&T) -> P) -> Self {
        let others = items.len() > limit;
        items.truncate(limit);
        let next = if others { items.last().map(position) } else { None };
        Self { items, next }
    }
}
