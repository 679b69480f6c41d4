//! Lists in pages.

use std::vec;

use serde::de::DeserializeOwned;

use crate::error::CloudError;
use crate::http::Site;

/// Iterates over the items of all pages.
pub(crate) struct Pages<'c, T> {
    site: &'c Site,
    what: &'static str,
    path: &'static str,
    /// The query of the next page, `?…`; None after the last one.
    next: Option<String>,
    page: vec::IntoIter<T>,
}

impl<'c, T: DeserializeOwned> Pages<'c, T> {
    pub(crate) fn new(site: &'c Site, what: &'static str, path: &'static str, first: String) -> Self {
        Self { site, what, path, next: Some(first), page: Vec::new().into_iter() }
    }

    fn turn(&mut self, query: &str) -> Result<(), CloudError> {
        let answer = self.site.fetch(self.what, &format!("{}{query}", self.path))?;
        let page: Vec<T> = answer.json()?;
        // A cloud that names the same page again, or a page after an empty one, would keep the client in a loop.
        if answer.next.is_some() && (page.is_empty() || answer.next.as_deref() == Some(query)) {
            let reason = "it announces a next page that leads nowhere".to_owned();
            return Err(CloudError::Unreadable { what: self.what, reason });
        }
        self.next = answer.next;
        self.page = page.into_iter();
        Ok(())
    }
}

impl<T: DeserializeOwned> Iterator for Pages<'_, T> {
    type Item = Result<T, CloudError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(item) = self.page.next() {
            return Some(Ok(item));
        }
        let query = self.next.take()?;
        match self.turn(&query) {
            Ok(()) => self.page.next().map(Ok),
            Err(error) => Some(Err(error)),
        }
    }
}
