//! The owner's orders to delete windows and to accept a log, as the cloud shows them to a device.

use sotto_wire::{Order, frame_digest};

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

/// The owner's orders about a stream, each under the owner's signature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ordered {
    /// Windows that ended before this time are deleted: milliseconds since 1970, at most the present.
    pub until: Option<i64>,
    /// The digest of the last order to accept the cloud's log.
    pub accepted: Option<[u8; 32]>,
}

impl Positions<'_> {
    /// Asks for the owner's orders about a stream. None without an order that the owner signed, and for a bundle without the
    /// owner's key.
    ///
    /// # Errors
    /// [`Later`] if the cloud does not answer now.
    pub fn ordered(&self, stream: &str) -> Result<Ordered, Later> {
        // Without the owner's key nothing is signed.
        let (Ok(question), Some(owner)) = (self.question(stream), self.owner) else {
            return Ok(Ordered::default());
        };
        let position = match self.cloud.position(&question, &PositionQuery { order: true }) {
            Lookup::Known(position) => position,
            Lookup::Unknown => return Ok(Ordered::default()),
            Lookup::Later(later) => return Err(later),
        };
        let until = self.deletion(stream, &position).ok().flatten().map(|deletion| deletion.until);
        let accepted = position.accepted.and_then(|order| self.accepted(stream, owner, &order));
        Ok(Ordered { until, accepted })
    }

    /// Returns the digest of an order to accept the stream's log, if the owner signed it.
    pub(super) fn accepted(&self, stream: &str, owner: [u8; 32], order: &str) -> Option<[u8; 32]> {
        let frame = hex::decode(order).ok()?;
        let order = Order::read(&frame).ok()?;
        order.verify(&owner).ok()?;
        let parts = order.parts();
        let accepts = matches!(parts.what, sotto_wire::Ordered::Accept { .. });
        if !accepts || !parts.is_about(self.device, stream) {
            return None;
        }
        frame_digest(&frame).ok()
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
        let believed = order.as_deref().and_then(|order| self.deleted(stream, owner, order, *next));
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
    fn deleted(&self, stream: &str, owner: [u8; 32], order: &str, said: u64) -> Option<Deletion> {
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
