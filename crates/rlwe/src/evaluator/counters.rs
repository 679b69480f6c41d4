//! Counts of the operations that ran.

use alloc::collections::BTreeMap;
#[cfg(target_has_atomic = "64")]
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering;

#[cfg(not(target_has_atomic = "64"))]
use portable_atomic::AtomicU64;

/// The operations that the evaluator counts.
///
/// Example: [`Counters`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Operation {
    Add,
    Subtract,
    Negate,
    AddPlain,
    MultiplyPlain,
    MultiplyScalar,
    Multiply,
    Relinearise,
    Rotate,
    SwapRows,
    DropModulus,
    MatchScale,
    MatchFactor,
    SwitchKey,
    MultiplyMonomial,
}

impl Operation {
    const ALL: [Self; 15] = [
        Self::Add,
        Self::Subtract,
        Self::Negate,
        Self::AddPlain,
        Self::MultiplyPlain,
        Self::MultiplyScalar,
        Self::Multiply,
        Self::Relinearise,
        Self::Rotate,
        Self::SwapRows,
        Self::DropModulus,
        Self::MatchScale,
        Self::MatchFactor,
        Self::SwitchKey,
        Self::MultiplyMonomial,
    ];

    /// Returns its name in plans and output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Subtract => "subtract",
            Self::Negate => "negate",
            Self::AddPlain => "add-plain",
            Self::MultiplyPlain => "multiply-plain",
            Self::MultiplyScalar => "multiply-scalar",
            Self::Multiply => "multiply",
            Self::Relinearise => "relinearise",
            Self::Rotate => "rotate",
            Self::SwapRows => "swap-rows",
            Self::DropModulus => "drop-modulus",
            Self::MatchScale => "match-scale",
            Self::MatchFactor => "match-factor",
            Self::SwitchKey => "switch-key",
            Self::MultiplyMonomial => "multiply-monomial",
        }
    }
}

/// The number of times that each operation ran.
///
/// ```
/// # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/owner/mod.rs")); }
/// # use owner::Owner;
/// # use sotto_ring::secure_rng;
/// # use sotto_rlwe::{Bfv, Evaluator, Operation, Params, Scheme};
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let plaintext = Bfv::encode_slots(&params, &[215], params.top_level())?;
/// # let reading = Owner::new(&params, 1).public_key().encrypt(&plaintext, &mut secure_rng()?)?;
/// let evaluator = Evaluator::new(&params);
/// evaluator.negate(&evaluator.add(&reading, &reading)?)?;
/// let totals = evaluator.counters().totals();
/// assert_eq!(totals[Operation::Add.name()], 1);
/// assert_eq!(totals["negate"], 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Counters([AtomicU64; 15]);

impl Counters {
    pub(super) fn count(&self, operation: Operation) {
        self.0[operation as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Returns name and count of every operation that ran.
    pub fn totals(&self) -> BTreeMap<&'static str, u64> {
        let total = |o: &Operation| (o.name(), self.0[*o as usize].load(Ordering::Relaxed));
        Operation::ALL.iter().map(total).filter(|(_, count)| *count > 0).collect()
    }
}
