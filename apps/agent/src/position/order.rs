//! The owner's orders to delete windows, as the cloud shows them to a device.

use sotto_wire::Order;

use super::{NoPosition, Positions, largest_unsigned, not_ours};
use crate::source::now;
use crate::upload::{Later, Lookup, Position, PositionQuery};

/// A deletion that the device believes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// Windows that ended before this time are deleted: milliseconds since 1970, at most the present.
    pub until: i64,
    /// The number behind the largest that was deleted.
    pub next: u64,
    /// The number that the owner's order names; 0 for a bundle without the owner's key, for which the cloud's word has to do,
    /// and of an order about all streams.
    pub signed_next: u64,
}

impl Positions<'_> {
    /// Asks for the time before which the owner has ordered the windows of a stream to be deleted. None without an order that
    /// the owner signed, and for a bundle without the owner's key.
    ///
    /// # Errors
    /// [`Later`] if the cloud does not answer now.
    pub fn ordered_until(&self, stream: &str) -> Result<Option<i64>, Later> {
        let Ok(question) = self.question(stream) else { return Ok(None) };
        let position = match self.cloud.position(&question, &PositionQuery { order: true }) {
            Lookup::Known(position) => position,
            Lookup::Unknown => return Ok(None),
            Lookup::Later(later) => return Err(later),
        };
        let deletion = self.deletion(stream, &position).ok().flatten();
        // Without the owner's key nothing is signed.
        Ok(deletion.filter(|_| self.owner.is_some()).map(|deletion| deletion.until))
    }

    /// Returns the deletion that an answer tells, if it is believed: one that the owner signed. Without the owner's key, what
    /// the cloud says is believed within limits.
    pub(super) fn deletion(&self, stream: &str, position: &Position) -> Result<Option<Deletion>, NoPosition> {
        let Position { next, forgotten_until, order, .. } = position;
        let Some(owner) = self.owner else {
            // A number beyond the limit is refused: it could use up the device's numbers.
            if forgotten_until.is_some() && *next > largest_unsigned() {
                return Err(not_ours("its sequence number is too large"));
            }
            // At most the present: otherwise the cloud could declare all future readings deleted.
            let deletion = |until: i64| Deletion { until: until.min(now()), next: *next, signed_next: 0 };
            return Ok(forgotten_until.map(deletion));
        };
        let believed = order.as_deref().and_then(|order| self.ordered(stream, owner, order, *next));
        if believed.is_none() && (order.is_some() || forgotten_until.is_some()) {
            tracing::warn!(
                stream,
                "the cloud says that windows were deleted, and shows no order of the owner: it is not believed"
            );
        }
        Ok(believed)
    }

    /// Returns the deletion of an order, if the owner signed it for this stream. `said` is the cloud's number: an order about all
    /// streams names none, and the device goes on behind the deleted windows all the same.
    fn ordered(&self, stream: &str, owner: [u8; 32], order: &str, said: u64) -> Option<Deletion> {
        let order = Order::read(&hex::decode(order).ok()?).ok()?;
        order.verify(&owner).ok()?;
        let parts = order.parts();
        let forget = parts.forget().filter(|_| parts.is_about(self.device, stream))?;
        // No owner has deleted such a window: its order was made from false heads.
        if forget.next > largest_unsigned() {
            return None;
        }
        let (until, signed_next) = (forget.until.min(now()), forget.next);
        let is_said = forget.stream.is_none() && said <= largest_unsigned();
        Some(Deletion { until, next: if is_said { signed_next.max(said) } else { signed_next }, signed_next })
    }
}
