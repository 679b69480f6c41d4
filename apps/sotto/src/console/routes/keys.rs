//! Keys, certificates, backups.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::json;

use super::super::{Console, now};
use super::devices::described;
use super::{Answered, on_plant};

pub(in super::super) async fn keys(State(console): State<Arc<Console>>) -> Answered {
    on_plant(&console, |plant| {
        let devices: BTreeMap<_, _> = plant
            .settings()
            .devices
            .keys()
            .filter_map(|name| Some((name, described(&plant, name).ok()?)))
            .collect();
        let faults: Vec<_> = plant
            .check()?
            .iter()
            .map(|fault| json!({"error": format!("{} {}: {}", fault.file, fault.what, fault.cure), "exit_code": 1}))
            .collect();
        let certificate = plant
            .cloud_certificate()?
            .map(|certificate| json!({"hosts": certificate.hosts, "until": certificate.valid_until}));
        Ok(Json(json!({
            "has_passphrase": plant.has_passphrase(), "owner_key": plant.owner_key()?,
            "cloud_keys": plant.settings().cloud.keys, "not_pinned": plant.not_pinned(), "certificate": certificate,
            "backup": now::backup(&plant)?, "devices": devices, "faults": faults,
        })))
    })
    .await
}
