//! The owner's signed orders: deletions, logs that are taken as they are, devices that are revoked.
//!
//! ```
//! use sotto_api::orders::{ListOrders, OrderPage};
//! use sotto_api::{Admission, Arrived, Route};
//!
//! assert_eq!(ListOrders::ADMISSION, Admission::Token);
//! let body = br#"{"orders": [{"position": 0, "frame": "a5a5"}]}"#.to_vec();
//! let page: OrderPage = ListOrders::read(Arrived { body, ..Arrived::default() })?;
//! assert_eq!((page.orders[0].position, page.orders[0].frame.as_slice()), (0, &[0xa5, 0xa5][..]));
//! # Ok::<(), sotto_api::Unreadable>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::route::{Query, present, route};
use crate::text;

/// Selects a part of the orders.
///
/// ```
/// use sotto_api::Query as _;
/// use sotto_api::orders::OrderQuery;
///
/// assert_eq!(OrderQuery { from: 7 }.text(), "?from=7");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct OrderQuery {
    /// The first position, from 0.
    #[serde(default)]
    pub from: u64,
}

impl Query for OrderQuery {
    fn pairs(&self) -> Vec<(&'static str, String)> {
        present([("from", Some(self.from.to_string()))])
    }
}

/// Some orders, in the order in which the cloud took them. Empty behind the last one.
///
/// Example: [`orders`](self)
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OrderPage {
    /// The orders.
    pub orders: Vec<KeptOrder>,
}

/// An order that the cloud keeps.
///
/// Example: [`orders`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct KeptOrder {
    /// Its position among all orders, from 0.
    #[cfg_attr(feature = "schema", schema(value_type = i64))]
    pub position: u64,
    /// The order: a frame of kind 38 in hexadecimal.
    #[serde(with = "text::bytes")]
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub frame: Vec<u8>,
}

/// Counts of deleted rows and files, or of windows that were rolled up.
///
/// ```
/// use sotto_api::orders::GiveOrder;
/// use sotto_api::{Arrived, Route};
///
/// let body = br#"{"envelopes": 24, "bytes": 21640, "jobs": 2, "outputs": 2}"#.to_vec();
/// let forgotten = GiveOrder::read(Arrived { body, ..Arrived::default() })?;
/// assert_eq!((forgotten.envelopes, forgotten.jobs), (24, 2));
/// # Ok::<(), sotto_api::Unreadable>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Forgotten {
    /// Number of deleted envelopes.
    #[cfg_attr(feature = "schema", schema(value_type = i64))]
    pub envelopes: u64,
    /// Bytes of the envelopes.
    #[cfg_attr(feature = "schema", schema(value_type = i64))]
    pub bytes: u64,
    /// Jobs that had used the envelopes.
    #[cfg_attr(feature = "schema", schema(value_type = usize))]
    pub jobs: u64,
    /// Outputs of these jobs.
    #[cfg_attr(feature = "schema", schema(value_type = usize))]
    pub outputs: u64,
    /// Places of the cloud's backups, which have the windows until they are too old there.
    #[serde(default)]
    pub backups: Vec<String>,
}

route! {
    /// Takes an order of the owner, carries it out, and keeps it.
    ///
    /// An order to delete windows deletes those that it names, and the jobs that used them. The device cannot upload them
    /// again: the cloud refuses windows of the stream that ended before the order's time (`forgotten`), and shows the
    /// order to a device that asks for its position. Copies in backups stay. An order to roll windows up keeps the sum of each
    /// group and deletes the bodies of its windows, whose number and freed bytes are returned; the signed headers stay. Orders of
    /// other kinds are kept for the owner's computers; a device is revoked under `/v1/devices`. An order that was taken before is
    /// carried out again and kept once.
    GiveOrder: Token post "/v1/orders", "the order", takes frame, gives json Forgotten;
    request_body(content = crate::schema::Frame, content_type = "application/octet-stream", description = "A frame of kind 38 (order), at most 64 KiB, signed with the owner's key."),
    responses(
        (status = 200, description = "Carried out.", body = Forgotten),
        (status = 400, description = "`not-a-frame`, `unknown-version`, `wrong-kind`, `digest-mismatch`, `trailing-bytes`"),
        (status = 422, description = "`bad-signature` (not that of the key in the order), `invalid-value`, `wrong-length`"),
        (status = 503, description = "`windows-away`: the object store that has windows does not answer"),
        (status = 507, description = "`storage-full`")
    )
}

route! {
    /// Returns orders from a position on.
    ///
    /// The owner checks their signatures: with them another of the owner's computers knows which windows the owner has deleted.
    ListOrders: Token get "/v1/orders", "the orders", query OrderQuery, gives json OrderPage;
    params(OrderQuery),
    responses((status = 200, description = "A part of the orders.", body = OrderPage))
}
