//! Pages of a list.

/// Items of a page where the owner names no number.
const DEFAULT_PAGE: u32 = 100;
/// Items of the largest page.
pub(crate) const LARGEST_PAGE: u32 = 1000;

/// Items in the list's order, and the position of the last one if others follow.
#[derive(Debug)]
pub(crate) struct Page<T, P> {
    pub(crate) items: Vec<T>,
    pub(crate) next: Option<P>,
}

/// Items that a page shows at most.
pub(crate) fn limit(asked: Option<u32>) -> usize {
    asked.unwrap_or(DEFAULT_PAGE).min(LARGEST_PAGE) as usize
}

impl<T, P> Page<T, P> {
    /// Cuts the page from as many items, and the one after them if there is one.
    pub(super) fn cut(mut items: Vec<T>, limit: usize, position: impl Fn(&T) -> P) -> Self {
        let others = items.len() > limit;
        items.truncate(limit);
        let next = if others { items.last().map(position) } else { None };
        Self { items, next }
    }
}
