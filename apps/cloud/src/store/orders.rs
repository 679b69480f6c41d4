//! The owner's signed orders. None is ever deleted.

use rusqlite::params;
use sotto_api::orders::KeptOrder;
use sotto_wire::{Digest, Order, OrderParts, Ordered, RollUp};

use super::{Store, StoreError};

/// Bytes of frames after which a page ends.
const MOST_BYTES: usize = 1 << 20;

/// Most orders of a stream that are looked at for the one that reaches furthest.
const MOST_READ: i64 = 64;

impl Store {
    /// Keeps an order with this digest and this frame, once.
    pub(crate) fn keep_order(
        &self,
        parts: &OrderParts,
        digest: &Digest,
        frame: &[u8],
    ) -> Result<(), StoreError> {
        let (stream, forgets) = match &parts.what {
            Ordered::Forget(forget) => (forget.stream.as_deref(), true),
            Ordered::Accept { stream, .. } | Ordered::RollUp(RollUp { stream, .. }) => {
                (Some(stream.as_str()), false)
            }
            Ordered::Revoke { .. } => (None, false),
        };
        self.transaction(|transaction| {
            transaction.execute(
                "INSERT INTO orders (position, digest, device, stream, forgets, frame)
                 SELECT coalesce(max(position) + 1, 0), ?1, ?2, ?3, ?4, ?5 FROM orders WHERE true
                 ON CONFLICT (digest) DO NOTHING",
                params![digest, parts.device, stream, forgets, frame],
            )?;
            Ok(())
        })
    }

    /// Returns orders from a position on.
    pub(crate) fn orders(&self, from: u64) -> Result<Vec<KeptOrder>, StoreError> {
        let connection = self.connection();
        let mut query = connection
            .prepare_cached("SELECT position, frame FROM orders WHERE position >= ?1 ORDER BY position")?;
        let mut rows = query.query([i64::try_from(from).unwrap_or(i64::MAX)])?;
        let (mut orders, mut bytes) = (Vec::new(), 0);
        while let Some(row) = rows.next()? {
            let frame: Vec<u8> = row.get(1)?;
            bytes += frame.len();
            orders.push(KeptOrder { position: row.get::<_, i64>(0)?.unsigned_abs(), frame });
            if bytes > MOST_BYTES {
                break;
            }
        }
        Ok(orders)
    }

    /// Returns the frame of the order to delete windows of a stream that reaches furthest, of the last [`MOST_READ`]
    /// about it and as many about all streams of the device.
    pub(crate) fn order_to_forget(&self, device: &str, stream: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let connection = self.connection();
        let mut query = connection.prepare_cached(
            "SELECT frame FROM orders WHERE device = ?1 AND stream IS ?2 AND forgets
             ORDER BY position DESC LIMIT ?3",
        )?;
        let mut furthest: Option<(i64, Vec<u8>)> = None;
        // Those about the stream, and those about all streams of the device.
        for of in [Some(stream), None] {
            let frames = query.query_map(params![device, of, MOST_READ], |row| row.get::<_, Vec<u8>>(0))?;
            for frame in frames {
                let frame = frame?;
                let until = Order::read(&frame).ok().and_then(|order| Some(order.parts().forget()?.until));
                let is_further = |until: &i64| furthest.as_ref().is_none_or(|(most, _)| until > most);
                if let Some(until) = until.filter(is_further) {
                    furthest = Some((until, frame));
                }
            }
        }
        Ok(furthest.map(|(_, frame)| frame))
    }

    /// Returns the frame of the last order to accept a stream's log, of the last [`MOST_READ`] about the stream.
    pub(crate) fn order_to_accept(&self, device: &str, stream: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let connection = self.connection();
        let mut query = connection.prepare_cached(
            "SELECT frame FROM orders WHERE device = ?1 AND stream = ?2 AND NOT forgets
             ORDER BY position DESC LIMIT ?3",
        )?;
        let frames = query.query_map(params![device, stream, MOST_READ], |row| row.get::<_, Vec<u8>>(0))?;
        for frame in frames {
            let frame = frame?;
            let accepts = |order: &Order| matches!(order.parts().what, Ordered::Accept { .. });
            if Order::read(&frame).is_ok_and(|order| accepts(&order)) {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }
}
