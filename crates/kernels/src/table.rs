//! A target as a value: the table of its functions.

use crate::conversion::{Lift, Quotient};
use crate::kernels::{self, for_each_kernel};
use crate::modulus::{Factor, Modulus};
use crate::ntt::NttTable;
use crate::slot_map::SlotMap;

/// Makes the table from the list of kernels, and the scalar one.
macro_rules! table {
    (() $($(#[$document:meta])* $name:ident($($argument:ident: $kind:ty),*) if $small:expr;)*) => {
    /// The functions of one target. Slices of one call have equal length; entries are residues in [0, q) unless a function
    /// says otherwise; a conversion takes at most 34 slices. Unreduced (*open*) values are the output of
    /// [`Kernels::ntt_forward_open`] of the same target and modulus, or residues. All functions are free of branches and
    /// addresses that depend on the values.
    ///
    /// ```
    /// use sotto_kernels::{Kernels, Modulus};
    ///
    /// let q = Modulus::new(97)?;
    /// // Every target of this machine gives the same sum.
    /// for kernels in Kernels::available() {
    ///     let mut sum = [90, 21];
    ///     (kernels.add)(&q, &mut sum, &[10, 20]);
    ///     assert_eq!(sum, [3, 41], "{}", kernels.name);
    /// }
    /// assert_eq!(Kernels::available()[0].name, Kernels::SCALAR.name);
    /// # Ok::<(), sotto_kernels::InvalidModulus>(())
    /// ```
        #[derive(Clone, Copy)]
        pub struct Kernels {
            /// The target's name in output and tests.
            pub name: &'static str,
            $($(#[$document])* pub $name: fn($($kind),*),)*
        }

        impl Kernels {
            /// The scalar target, in plain Rust, for every machine.
            pub const SCALAR: Self = Self {
                name: "scalar",
                $($name: kernels::$name::scalar,)*
            };
        }
    };
}
for_each_kernel!(table());

impl core::fmt::Debug for Kernels {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Kernels({})", self.name)
    }
}
