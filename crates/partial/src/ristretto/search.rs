//! Small logarithms by baby steps and giant steps (Shanks). The time depends on the result.

use alloc::vec::Vec;

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT;
use curve25519_dalek::ristretto::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;

use super::scheme::LARGEST_BITS;
use crate::error::PartialError;

/// Points of a batch, whose encodings share one inversion.
const BATCH: usize = 1 << 10;
/// Low bits of an entry, which hold the step's number. The bits above come from the point's encoding.
const STEP_BITS: u32 = 24;

/// A sorted table of the encodings of 2j·B for j from 0 to 2^t. Made once, used by all decryptions. 8 bytes
/// an entry.
///
/// ```
/// use curve25519_dalek::{ristretto::RistrettoPoint, scalar::Scalar};
/// use sotto_partial::ristretto::BabySteps;
///
/// let table = BabySteps::new(20)?; // for numbers below 2^20 in size
/// let point = RistrettoPoint::mul_base(&-Scalar::from(40_000u64));
/// assert_eq!(table.search_vartime(&point, |_, _| ())?, -40_000);
/// # Ok::<(), sotto_partial::PartialError>(())
/// ```
pub struct BabySteps {
    entries: Vec<u64>,
    steps: u64,
    bits: u32,
}

impl BabySteps {
    /// Makes a table for messages below 2^bits in size, `bits` ≤ 40: 2^(bits/2) entries, 8 MB at 40 bits.
    ///
    /// # Errors
    /// [`PartialError::Message`] if `bits` is above 40.
    pub fn new(bits: u32) -> Result<Self, PartialError> {
        if bits > LARGEST_BITS {
            return Err(PartialError::Message { bits: LARGEST_BITS });
        }
        let steps = 1u64 << bits.div_ceil(2);
        let mut entries = Vec::with_capacity(steps as usize + 1);
        let mut walk = Walk { point: RistrettoPoint::identity(), step: RISTRETTO_BASEPOINT_POINT };
        while entries.len() as u64 <= steps {
            let first = entries.len() as u64;
            let count = BATCH.min((steps + 1 - first) as usize);
            entries.extend((first..).zip(walk.tags(count)).map(|(step, tag)| tag << STEP_BITS | step));
        }
        entries.sort_unstable();
        Ok(Self { entries, steps, bits })
    }

    /// Returns the bits of the longest message, without its sign.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns m with m·B = point and |m| < 2^bits. Calls `progress(giant steps done, giant steps in all)`
    /// after each batch.
    ///
    /// # Errors
    /// [`PartialError::NotFound`] if there is no such m.
    pub fn search_vartime(
        &self,
        point: &RistrettoPoint,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<i64, PartialError> {
        // One walk for each sign. A giant step is as long as the range of the baby steps.
        let reach = self.steps + 1;
        let total = (1u64 << self.bits).div_ceil(reach) + 1;
        let giant = RISTRETTO_BASEPOINT_POINT * Scalar::from(reach);
        let mut up = Walk { point: *point, step: -giant };
        let mut down = Walk { point: *point, step: giant };
        let mut done = 0;
        while done < total {
            let count = BATCH.min((total - done) as usize);
            for (walk, sign) in [(&mut up, 1), (&mut down, -1)] {
                for (i, tag) in (done..).zip(walk.tags(count)) {
                    let centre = sign * (i * reach) as i64;
                    let fits = |m: &i64| m.unsigned_abs() >> self.bits == 0 && is_multiple(point, *m);
                    if let Some(found) = self.steps_of(tag).map(|step| centre + step).find(fits) {
                        return Ok(found);
                    }
                }
            }
            done += count as u64;
            progress(done, total);
        }
        Err(PartialError::NotFound { bits: self.bits })
    }

    fn steps_of(&self, tag: u64) -> impl Iterator<Item = i64> + '_ {
        let start = self.entries.partition_point(|entry| entry >> STEP_BITS < tag);
        let same = self.entries[start..].iter().take_while(move |entry| *entry >> STEP_BITS == tag);
        same.map(|entry| (entry & ((1 << STEP_BITS) - 1)) as i64)
    }
}

fn is_multiple(point: &RistrettoPoint, m: i64) -> bool {
    let size = RistrettoPoint::mul_base(&Scalar::from(m.unsigned_abs()));
    *point == if m < 0 { -size } else { size }
}

/// Points in arithmetic progression.
struct Walk {
    point: RistrettoPoint,
    step: RistrettoPoint,
}

impl Walk {
    /// Returns bits of the encodings of twice the next points.
    fn tags(&mut self, count: usize) -> Vec<u64> {
        let points: Vec<RistrettoPoint> = (0..count)
            .map(|_| {
                let this = self.point;
                self.point += self.step;
                this
            })
            .collect();
        let encodings = RistrettoPoint::double_and_compress_batch(&points);
        encodings.iter().map(|encoding| tag(encoding.as_bytes())).collect()
    }
}

fn tag(encoding: &[u8; 32]) -> u64 {
    let mut low = [0; 8];
    low.copy_from_slice(&encoding[..8]);
    u64::from_le_bytes(low) >> STEP_BITS
}
