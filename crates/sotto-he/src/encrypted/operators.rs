//! `+`, `-`, `*` between encrypted vectors, with public values and with public vectors.

use core::ops::{Add, Mul, Neg, Sub};

use sotto_rlwe::{Bfv, Bgv, Ckks};

use super::Encrypted;
use crate::error::Result;
use crate::scheme::Arithmetic;

/// Both operands encrypted, each owned or borrowed.
macro_rules! vectors {
    ($trait:ident, $method:ident, |$a:ident, $b:ident| $result:expr) => {
        vectors!(@ $trait, $method, Encrypted<S>, Encrypted<S>, |$a, $b| $result);
        vectors!(@ $trait, $method, Encrypted<S>, &Encrypted<S>, |$a, $b| $result);
        vectors!(@ $trait, $method, &Encrypted<S>, Encrypted<S>, |$a, $b| $result);
        vectors!(@ $trait, $method, &Encrypted<S>, &Encrypted<S>, |$a, $b| $result);
    };
    (@ $trait:ident, $method:ident, $left:ty, $right:ty, |$a:ident, $b:ident| $result:expr) => {
        impl<S: Arithmetic> $trait<$right> for $left {
            type Output = Result<Encrypted<S>>;
            fn $method(self, other: $right) -> Self::Output {
                let ($a, $b): (&Encrypted<S>, &Encrypted<S>) = (vectors!(# self), vectors!(# other));
                $result
            }
        }
    };
    (# $operand:ident) => { core::borrow::Borrow::borrow(&$operand) };
}

vectors!(Add, add, |a, b| a.combined(b, false));
vectors!(Sub, sub, |a, b| a.combined(b, true));
vectors!(Mul, mul, |a, b| a.product(b));

impl<S: Arithmetic> Neg for &Encrypted<S> {
    type Output = Result<Encrypted<S>>;
    fn neg(self) -> Self::Output {
        self.negated()
    }
}

impl<S: Arithmetic> Neg for Encrypted<S> {
    type Output = Result<Encrypted<S>>;
    fn neg(self) -> Self::Output {
        self.negated()
    }
}

/// An encrypted vector with a public value on either side, or a public vector on the right.
macro_rules! public {
    ($scheme:ty, $value:ty) => {
        public!(@ $scheme, $value, Encrypted<$scheme>);
        public!(@ $scheme, $value, &Encrypted<$scheme>);
    };
    (@ $scheme:ty, $value:ty, $vector:ty) => {
        public!(# $scheme, Add, add, $vector, $value, |x, c| x.shifted(c));
        public!(# $scheme, Sub, sub, $vector, $value, |x, c| x.shifted(-c));
        public!(# $scheme, Mul, mul, $vector, $value, |x, c| x.scaled(c));
        public!(# $scheme, Add, add, $value, $vector, |c, x| x.shifted(c));
        public!(# $scheme, Sub, sub, $value, $vector, |c, x| x.negated()?.shifted(c));
        public!(# $scheme, Mul, mul, $value, $vector, |c, x| x.scaled(c));
        public!(= $scheme, $vector, (), &[$value]);
        public!(= $scheme, $vector, (), &Vec<$value>);
        public!(= $scheme, $vector, (const N: usize), &[$value; N]);
    };
    (= $scheme:ty, $vector:ty, ($($generics:tt)*), $plain:ty) => {
        impl<$($generics)*> Add<$plain> for $vector {
            type Output = Result<Encrypted<$scheme>>;
            fn add(self, other: $plain) -> Self::Output {
                self.add_plain(other)
            }
        }

        impl<$($generics)*> Sub<$plain> for $vector {
            type Output = Result<Encrypted<$scheme>>;
            fn sub(self, other: $plain) -> Self::Output {
                self.add_plain(&other.iter().map(|value| -value).collect::<Vec<_>>())
            }
        }

        impl<$($generics)*> Mul<$plain> for $vector {
            type Output = Result<Encrypted<$scheme>>;
            fn mul(self, other: $plain) -> Self::Output {
                self.multiply_plain(other)
            }
        }
    };
    (# $scheme:ty, $trait:ident, $method:ident, $left:ty, $right:ty, |$a:ident, $b:ident| $result:expr) => {
        impl $trait<$right> for $left {
            type Output = Result<Encrypted<$scheme>>;
            fn $method(self, other: $right) -> Self::Output {
                let ($a, $b) = (self, other);
                $result
            }
        }
    };
}

public!(Ckks, f64);
public!(Bfv, i64);
public!(Bgv, i64);
