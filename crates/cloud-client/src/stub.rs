//! Stub.
use crate::{Cloud, CloudError};
/// Stub.
#[derive(Clone, Debug)]
pub struct SumOfWindows {
    /// Stub.
    pub windows: (u32, u32),
    /// Stub.
    pub parts: Vec<u8>,
    /// Stub.
    pub weights: Option<Vec<i64>>,
}
impl Cloud {
    /// Stub.
    pub fn stream_sums(&self, _: &str, _: &[(u64, u32)], _: &[SumOfWindows]) -> Result<(Vec<u8>, u64), CloudError> {
        todo!()
    }
}
