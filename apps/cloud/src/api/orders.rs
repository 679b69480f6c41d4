//! Takes the owner's orders, carries them out, and returns them.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, Request, State};
use sotto_api::orders::{Forgotten, GiveOrder, ListOrders, OrderPage, OrderQuery};
use sotto_api::reason;
use sotto_service::body;
use sotto_wire::{LARGEST_ORDER, Order, Ordered};

use super::routes::Routes;
use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::store::RolledUp;
use crate::streams;

pub(super) fn routes(routes: Routes) -> Routes {
    routes.serve(GiveOrder, post).serve(ListOrders, list)
}

async fn post(State(cloud): State<Arc<Cloud>>, request: Request) -> Result<Json<Forgotten>, Problem> {
    let frame = body::read(request, LARGEST_ORDER, cloud.config.body_time()).await?;
    cloud.blocking(move |cloud| cloud.with_windows(|cloud| carry_out(cloud, &frame)).map(Json)).await
}

fn carry_out(cloud: &Cloud, frame: &[u8]) -> Result<Forgotten, Problem> {
    let order = Order::read(frame)?;
    let parts = order.parts();
    if order.verify(&parts.owner).is_err() {
        let detail = "the order is not signed with the key that it names";
        return Err(Problem::unprocessable(reason::BAD_SIGNATURE, detail));
    }
    // Kept first: no deletion is then without its order.
    cloud.store.keep_order(parts, &order.digest()?, frame)?;
    let device = parts.device.as_str();
    match &parts.what {
        Ordered::Forget(forget) => {
            let forgotten = cloud.store.forget(device, forget)?;
            cloud.quotas.forget(device);
            let Forgotten { envelopes, jobs, .. } = forgotten;
            tracing::info!(device, stream = forget.stream.as_deref(), envelopes, jobs, "forgotten");
            Ok(forgotten)
        }
        Ordered::RollUp(order) => {
            let RolledUp { windows, bytes } = streams::roll_up(cloud, device, order)?;
            cloud.quotas.forget(device);
            tracing::info!(device, stream = order.stream, windows, bytes, "rolled up");
            Ok(Forgotten { envelopes: windows, bytes, ..Forgotten::default() })
        }
        Ordered::Accept { stream, size, .. } => {
            tracing::info!(device, stream, size, "the owner takes the log as it is");
            Ok(Forgotten::default())
        }
        Ordered::Revoke { .. } => {
            tracing::info!(device, "the owner's order to revoke the device is kept");
            Ok(Forgotten::default())
        }
    }
}

async fn list(
    State(cloud): State<Arc<Cloud>>,
    Query(OrderQuery { from }): Query<OrderQuery>,
) -> Result<Json<OrderPage>, Problem> {
    cloud.blocking(move |cloud| Ok(Json(OrderPage { orders: cloud.store.orders(from)? }))).await
}
