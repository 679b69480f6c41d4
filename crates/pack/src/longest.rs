//! The longest description of windows.

use alloc::vec;
use alloc::vec::Vec;

use crate::{Layout, Period, Presence, WindowDescription};

impl WindowDescription {
    /// Returns the longest description of a layout's windows, without counts of readings left out, which are dropped if they
    /// do not fit.
    ///
    /// ```
    /// use sotto_pack::{Channel, Layout, WindowDescription};
    ///
    /// let channel = |at| Channel { name: format!("c{at}"), maximum: 1.0, resolution: Some(0.5), ..Channel::default() };
    /// let fits = |channels| {
    ///     let layout = Layout::of_sums((0..channels).map(channel).collect(), 24)?;
    ///     Ok::<_, sotto_pack::PackError>(WindowDescription::longest(&layout, true).to_json().is_ok())
    /// };
    /// assert!(fits(60)? && !fits(600)?);
    /// # Ok::<(), sotto_pack::PackError>(())
    /// ```
    #[must_use]
    pub fn longest(layout: &Layout, counts_rounded: bool) -> Self {
        let (ticks, channels) = (layout.ticks(), layout.channels().len());
        Self {
            layout: layout.clone(),
            present: vec![ticks; channels],
            start: i64::MIN,
            period: Period::LONGEST,
            length: ticks,
            presence: vec![Presence::first(ticks); channels],
            left_out: Vec::new(),
            rounded: counts_rounded.then(|| vec![ticks; channels]),
            generated: true,
            replaces: None,
            provisional: false,
        }
    }
}
