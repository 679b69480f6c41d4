//! Lists in pages.

use std::marker::PhantomData;
use std::vec;

use sotto_api::devices::{Device, ListDevices};
use sotto_api::envelopes::{ListEnvelopes, StoredEnvelope};
use sotto_api::jobs::{ListJobs, ListedJob};
use sotto_api::{Page, Query as _, Route};
use sotto_http::Request;

use crate::error::CloudError;
use crate::requests::Requests;

/// Items per page. 500 devices with 256 keys each fit the largest answer, and so do 500 envelopes: a layout has at most
/// 16 KiB, six times as much when escaped.
pub(crate) const PAGE: u32 = 500;

/// Iterates over all devices in the order of their names.
///
/// Example: [`Cloud::devices`](crate::Cloud::devices)
pub type Devices<'c> = Pages<'c, Device, ListDevices>;
/// Iterates over all envelopes that match a query, in the order of device, stream and sequence number.
///
/// Example: [`Cloud::envelopes`](crate::Cloud::envelopes)
pub type Envelopes<'c> = Pages<'c, StoredEnvelope, ListEnvelopes>;
/// Iterates over all jobs, the newest first.
///
/// Example: [`Cloud::jobs`](crate::Cloud::jobs)
pub type Jobs<'c> = Pages<'c, ListedJob, ListJobs>;

/// Iterates over the items of all pages of a list. Fetches a page when the previous one is used up; ends after an error.
///
/// Example: [`Cloud::devices`](crate::Cloud::devices)
#[must_use = "pages are fetched only when they are iterated over"]
pub struct Pages<'c, T, R> {
    requests: &'c Requests,
    /// The query of the next page, `?…`; None after the last one.
    next: Option<String>,
    page: vec::IntoIter<T>,
    route: PhantomData<R>,
}

impl<'c, T, R> Pages<'c, T, R>
where
    R: for<'n> Route<Answer = Page<T>, Names<'n> = [&'n str; 0], Request = ()>,
{
    pub(crate) fn new(requests: &'c Requests, first: &R::Query) -> Self {
        Self { requests, next: Some(first.text()), page: Vec::new().into_iter(), route: PhantomData }
    }

    fn turn(&mut self, query: &str) -> Result<(), CloudError> {
        let request = Request::to_page::<R>(query);
        let page = self.requests.call::<R>(request)?;
        // A cloud that names the same page again, or a page after an empty one, would keep the client in a loop.
        if page.next.is_some() && (page.items.is_empty() || page.next.as_deref() == Some(query)) {
            let reason = "it announces a next page that leads nowhere".to_owned();
            return Err(CloudError::Unreadable { what: R::ABOUT, reason });
        }
        self.next = page.next;
        self.page = page.items.into_iter();
        Ok(())
    }
}

impl<T, R> Iterator for Pages<'_, T, R>
where
    R: for<'n> Route<Answer = Page<T>, Names<'n> = [&'n str; 0], Request = ()>,
{
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
