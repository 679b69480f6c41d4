//! The evaluation keys that a cloud stores.

use serde::Deserialize;

use crate::text::{name, names};

/// The stored evaluation keys of one secret key.
///
/// ```
/// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
/// use sotto_cloud_client::KeyStatus;
/// # let (cloud, _) = stand_in::serve(vec![stand_in::ok(r#"{
/// #     "parameter_id": "01", "key_id": "02", "relinearisation": true, "galois": 3, "rotations": [1, 2, 4],
/// #     "swap_rows": false, "row": 2048, "transfers": [], "bytes": 655612, "stored_at": 1795000000000
/// # }"#)]);
///
/// let status: Option<KeyStatus> = cloud.key_status("01", "02")?;
/// let keys = status.expect("the owner uploaded keys");
/// assert!(keys.can_rotate(4) && !keys.can_rotate(3));
/// assert!(keys.can_rotate(4 - 2048), "a rotation by a whole row changes nothing");
/// # Ok::<(), sotto_cloud_client::CloudError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct KeyStatus {
    /// 64 hexadecimal digits.
    #[serde(deserialize_with = "name")]
    pub parameter_id: String,
    /// 32 hexadecimal digits.
    #[serde(deserialize_with = "name")]
    pub key_id: String,
    /// True if there is a relinearisation key.
    pub relinearisation: bool,
    /// Number of Galois keys: for rotations, for the row swap, and for both combined.
    pub galois: u32,
    /// Rotations with a Galois key, from `-row / 2 + 1` to `row / 2`, ascending.
    pub rotations: Vec<i32>,
    /// True if there is a key for the row swap (in CKKS the conjugation).
    pub swap_rows: bool,
    /// Number of slots in a row.
    pub row: u32,
    /// Ids of the foreign keys with a transfer key.
    #[serde(deserialize_with = "names")]
    pub transfers: Vec<String>,
    /// Size of the keys' frame in bytes.
    pub bytes: u64,
    /// Time of the upload, in milliseconds since 1970.
    pub stored_at: i64,
}

impl KeyStatus {
    /// Returns true if there is a Galois key for a rotation by `step` slots. Steps that differ by a row are equivalent.
    /// A step of 0 means the row swap.
    #[must_use]
    pub fn can_rotate(&self, step: i32) -> bool {
        let Ok(row) = i32::try_from(self.row) else { return false };
        if step == 0 || row == 0 {
            return step == 0 && self.swap_rows;
        }
        self.rotations.iter().any(|key| key.rem_euclid(row) == step.rem_euclid(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_differ_by_a_row_are_one() {
        let status = r#"{"parameter_id":"0","key_id":"0","relinearisation":true,"galois":2,"rotations":[-3,8],"swap_rows":false,
            "row":16,"transfers":["00"],"bytes":1,"stored_at":1}"#;
        let status: KeyStatus = serde_json::from_str(status).unwrap();
        assert!([-3, 13, 8, -8].into_iter().all(|step| status.can_rotate(step)));
        assert!(![3, -13, 0, 16, 1].into_iter().any(|step| status.can_rotate(step)));
        let swaps = KeyStatus { swap_rows: true, row: 0, ..status };
        assert!(swaps.can_rotate(0) && !swaps.can_rotate(1));
    }
}
