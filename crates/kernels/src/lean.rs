//! A transform in one direction, with half of the table: for devices that hold one limb at a time.

use crate::kernels;
use crate::modulus::Modulus;
use crate::ntt::NttTable;

/// The twiddle factors of one direction: 16·n bytes. Runs on the scalar kernels, which give the same result as every
/// target.
///
/// ```
/// use sotto_kernels::{LeanTransform, Modulus};
///
/// let q = Modulus::new(17)?;
/// let mut values = [1, 2, 3, 4, 5, 6, 7, 8];
/// LeanTransform::forward(q, 8).expect("16 divides 17 - 1").run(&mut values);
/// assert_eq!(values, [5, 0, 13, 8, 9, 11, 5, 8]);
/// LeanTransform::inverse(q, 8).expect("16 divides 17 - 1").run(&mut values);
/// assert_eq!(values, [1, 2, 3, 4, 5, 6, 7, 8]);
/// # Ok::<(), sotto_kernels::InvalidModulus>(())
/// ```
pub struct LeanTransform {
    table: NttTable,
    forward: bool,
}

impl LeanTransform {
    /// Prepares the transform to Eval form. Returns None as in [`NttTable::new`].
    pub fn forward(modulus: Modulus, degree: usize) -> Option<Self> {
        Some(Self { table: NttTable::one_way(modulus, degree, true)?, forward: true })
    }

    /// Prepares the transform from Eval form. Returns None as in [`NttTable::new`].
    pub fn inverse(modulus: Modulus, degree: usize) -> Option<Self> {
        Some(Self { table: NttTable::one_way(modulus, degree, false)?, forward: false })
    }

    /// Transforms n residues in place. Panics if there are not exactly n.
    pub fn run(&self, values: &mut [u64]) {
        assert_eq!(values.len(), self.table.degree(), "one value a coefficient");
        if self.forward {
            kernels::ntt_forward::scalar(&self.table, values);
        } else {
            kernels::ntt_inverse::scalar(&self.table, values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;

    #[test]
    fn one_way_is_the_same_as_both() {
        let degree = 256;
        let modulus = Modulus::new(0xf_fffe_e001).unwrap();
        let table = NttTable::new(modulus, degree).unwrap();
        let values: Vec<u64> = (0..degree as u64).map(|i| i * i * 977 % modulus.value()).collect();
        let mut expected = values.clone();
        (Target::best().kernels.ntt_forward)(&table, &mut expected);
        let mut found = values.clone();
        LeanTransform::forward(modulus, degree).unwrap().run(&mut found);
        assert_eq!(found, expected);
        LeanTransform::inverse(modulus, degree).unwrap().run(&mut found);
        assert_eq!(found, values);
    }
}
