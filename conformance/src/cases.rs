//! Every operation and circuit of a machine as a case, to run on any machine.

use sotto_circuits::{
    CircuitError, Machine, Polynomial, Transform, exponentiate, inner_product, inner_product_with_plain,
    multiply_many, sum_all, sum_block, sum_row,
};

/// A computation on two vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Case {
    Add,
    AddToItself,
    Subtract,
    SubtractFromItself,
    Negate,
    AddConstant,
    AddVector,
    Triple,
    MultiplyConstant,
    MultiplyVector,
    WeightedSum,
    Multiply,
    Square,
    SumOfProducts,
    Rotate(i32),
    RotateMany,
    SwapRows,
    MultiplyMany,
    Exponentiate(u64),
    SumBlock(usize),
    SumRow,
    SumAll,
    InnerProduct,
    InnerProductWithPlain,
    Transform(usize, usize),
    Polynomial(usize),
}

impl Case {
    /// Cases that take no key.
    pub const LINEAR: [Self; 11] = [
        Self::Add,
        Self::AddToItself,
        Self::Subtract,
        Self::SubtractFromItself,
        Self::Negate,
        Self::AddConstant,
        Self::AddVector,
        Self::Triple,
        Self::MultiplyConstant,
        Self::MultiplyVector,
        Self::WeightedSum,
    ];

    /// Cases that switch keys. Rotations by 0, 1, −1, 2, 4 and 8.
    pub const KEYED: [Self; 17] = [
        Self::Multiply,
        Self::Square,
        Self::SumOfProducts,
        Self::Rotate(1),
        Self::Rotate(-1),
        Self::Rotate(2),
        Self::RotateMany,
        Self::SwapRows,
        Self::MultiplyMany,
        Self::Exponentiate(2),
        Self::Exponentiate(5),
        Self::SumBlock(5),
        Self::InnerProduct,
        Self::InnerProductWithPlain,
        Self::Transform(4, 4),
        Self::Transform(2, 8),
        Self::Polynomial(7),
    ];

    /// Runs the case. `public` is a vector that is not zero.
    ///
    /// # Errors
    /// The machine's refusal, for example if a key is missing or the noise bound exceeds the limit.
    pub fn run<M: Machine>(
        self,
        m: &mut M,
        a: &M::Vector,
        b: &M::Vector,
        public: &Public<M::Value>,
    ) -> Result<Vec<M::Vector>, CircuitError> {
        let row = m.slots().1;
        let one = match self {
            Self::Add => m.add(a, b),
            Self::AddToItself => m.add(a, a),
            Self::Subtract => m.subtract(a, b),
            Self::SubtractFromItself => m.subtract(a, a),
            Self::Negate => m.negate(a),
            Self::AddConstant => m.add_constant(a, public.fraction),
            Self::AddVector => m.add_vector(a, &public.vector),
            Self::Triple => m.multiply_constant(a, public.three),
            Self::MultiplyConstant => m.multiply_constant(a, public.fraction),
            Self::MultiplyVector => m.multiply_vector(a, &public.vector),
            Self::WeightedSum => m.weighted_sum(&[(a, public.three), (b, public.fraction)]),
            Self::Multiply => m.multiply(a, b),
            Self::Square => m.square(a),
            Self::SumOfProducts => m.sum_of_products(&[(a, b), (a, a), (b, b)]),
            Self::Rotate(step) => m.rotate(a, step),
            Self::RotateMany => return m.rotate_many(a, &[1, 2, -1]),
            Self::SwapRows => m.swap_rows(a),
            Self::MultiplyMany => multiply_many(m, &[a, b, a]),
            Self::Exponentiate(exponent) => exponentiate(m, a, exponent),
            Self::SumBlock(size) => sum_block(m, a, size),
            Self::SumRow => sum_row(m, a),
            Self::SumAll => sum_all(m, a),
            Self::InnerProduct => inner_product(m, a, b, 4),
            Self::InnerProductWithPlain => inner_product_with_plain(m, a, &public.vector, 4),
            Self::Transform(rows, columns) => {
                let entries = &public.vector[..rows * columns];
                Transform::new(entries, rows, columns, row)?.apply(m, a)
            }
            Self::Polynomial(degree) => Polynomial::new(public.vector[..=degree].to_vec()).evaluate(m, a),
        };
        Ok(vec![one?])
    }
}

/// Arguments of a case besides its operands.
#[derive(Clone, Debug)]
pub struct Public<V> {
    /// The integer 3.
    pub three: V,
    /// A value that is no small integer.
    pub fraction: V,
    /// A vector of one value a slot, the first 32 not zero.
    pub vector: Vec<V>,
}
