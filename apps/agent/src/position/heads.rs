//! Learns the ticks of a stream from the device's own windows in the cloud.

use std::collections::BTreeSet;

use sotto_pack::WindowDescription;
use sotto_wire::{Heads, HeadsRequest, SignedHeader};

use super::{NoPosition, Positions, Standing, not_ours};
use crate::source::now;
use crate::spool::{Contents, Cuts, Learnt, Sent, WindowTicks};
use crate::upload::Lookup;

/// The heads of a stream that have come so far. An attempt that fails goes on here.
#[derive(Clone, Debug, Default)]
pub struct Learning {
    /// The smallest sequence number that is still to come.
    from: u64,
    sent: Sent,
    ticks: WindowTicks,
}

impl Learning {
    /// Returns the number behind the highest head, and the ticks of all.
    #[must_use]
    pub fn so_far(&self) -> Learnt {
        let sent = Sent { channels: self.ticks.counted(), ..self.sent.clone() };
        let (next, signed_next) = (self.from, self.from);
        Learnt { next, signed_next, sent, ticks: self.ticks.clone(), of_windows: true }
    }

    /// Adds a head of this device.
    pub(super) fn add(&mut self, stream: &str, head: &SignedHeader, cuts: &Cuts) {
        self.from = head.header().sequence.saturating_add(1);
        let parsed = || WindowDescription::parse(&head.header().layout).ok();
        let Some(window) = head.description().or_else(parsed) else { return };
        let until = cuts.end_of(stream, &window).unwrap_or_else(|| window.end());
        let contents = Contents::of(&window, until);
        let channels = contents.sent.keys().cloned().collect();
        self.sent.windows.add(head.header().sequence, (window.start, until), channels);
        self.sent.until = self.sent.until.max(contents.until);
        self.ticks.add(head.header().sequence, &contents);
    }
}

impl Positions<'_> {
    /// Asks for the position of a stream, then for the heads of its windows from the ones that have come on.
    ///
    /// Believes heads with the device's own signature only. The cloud may hide some: their ticks do not count as sent then.
    ///
    /// # Errors
    /// [`NoPosition`] if the cloud does not tell them all, or one is not signed by this device.
    pub fn learn(&self, stream: &str, learning: &mut Learning) -> Result<Learnt, NoPosition> {
        let Standing { next, signed_next, until, forgotten } = self.ask(stream)?;
        if next == 0 {
            // Without a window there is no head.
            return Ok(learning.so_far());
        }
        loop {
            let page = match self.cloud.heads(&self.question_for_heads(stream, learning.from)?) {
                Lookup::Known(page) => page,
                Lookup::Unknown => {
                    let sent = Sent { before: until, until, ..Sent::default() };
                    return Ok(Learnt { next, signed_next, sent, ..Learnt::default() });
                }
                Lookup::Later(later) => return Err(later.into()),
            };
            self.take(stream, &page, learning)?;
            if !page.more {
                break;
            }
        }
        let mut learnt = learning.so_far();
        learnt.next = learnt.next.max(next);
        learnt.signed_next = learnt.signed_next.max(signed_next);
        learnt.sent.before = forgotten;
        learnt.sent.until = learnt.sent.until.max(until);
        Ok(learnt)
    }

    /// Returns the numbers of a stream's windows from one on, which the cloud shows with the device's own signature. None if the
    /// cloud's version tells none.
    ///
    /// # Errors
    /// [`NoPosition`] if the cloud does not tell them all, or one is not signed by this device.
    pub fn numbers(&self, stream: &str, from: u64) -> Result<Option<BTreeSet<u64>>, NoPosition> {
        let (mut numbers, mut from) = (BTreeSet::new(), from);
        loop {
            let page = match self.cloud.heads(&self.question_for_heads(stream, from)?) {
                Lookup::Known(page) => page,
                Lookup::Unknown => return Ok(None),
                Lookup::Later(later) => return Err(later.into()),
            };
            for head in self.own(stream, &page, from)? {
                from = head.header().sequence.saturating_add(1);
                numbers.insert(head.header().sequence);
            }
            if !page.more {
                return Ok(Some(numbers));
            }
        }
    }

    /// Checks a page and adds its heads.
    pub(super) fn take(&self, stream: &str, page: &Heads, learning: &mut Learning) -> Result<(), NoPosition> {
        let heads = self.own(stream, page, learning.from);
        heads?.iter().for_each(|head| learning.add(stream, head, self.cuts));
        Ok(())
    }

    /// Returns the heads of a page, from a number on: all of them are this device's, and ascend.
    fn own<'p>(&self, stream: &str, page: &'p Heads, from: u64) -> Result<&'p [SignedHeader], NoPosition> {
        if page.more && page.heads.is_empty() {
            return Err(not_ours("it has no head, and says that more follow"));
        }
        let mut from = from;
        for head in &page.heads {
            if head.header().sequence < from {
                return Err(not_ours("it has a head that was not asked for"));
            }
            self.check_own(stream, head)?;
            from = head.header().sequence.saturating_add(1);
        }
        Ok(&page.heads)
    }

    /// Returns the frame of a signed question for heads.
    fn question_for_heads(&self, stream: &str, from: u64) -> Result<Vec<u8>, NoPosition> {
        let sign = |message: &[u8]| self.identity.sign(message);
        let question = HeadsRequest::sign(self.device, stream, from, now(), sign);
        let frame = question.and_then(|asked| asked.write());
        frame.map_err(|error| NoPosition::Later(error.to_string()))
    }
}
