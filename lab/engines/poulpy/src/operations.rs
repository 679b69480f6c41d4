//! The operations that can be measured.

use poulpy_ckks::prelude::*;
use poulpy_core::api::GLWEKeyswitch as _;
use poulpy_core::layouts::prepared::GGLWEPreparedToBackendRef as _;
use poulpy_hal::api::ScratchOwnedBorrow as _;
use serde_json::Value;

use crate::backend::{Ciphertext, Scratch};
use crate::maker::SMALL;
use crate::session::{Session, near};
use crate::timer::Timer;
use crate::{Failure, Request, unsupported};

impl Session {
    pub fn measure(&self, request: &Request) -> Result<Value, Failure> {
        let timer = Timer::of(request);
        match request.operation.as_str() {
            "serialise" | "parse" => self.bytes(request, &timer),
            operation @ ("keygen" | "relin_keys" | "galois_keys") => self.make_keys(operation, &timer),
            operation @ ("add" | "add_in_place" | "subtract" | "negate" | "add_plain"
            | "encode_add_plain") => self.add(operation, &timer),
            operation @ ("multiply_relin" | "multiply_plain" | "rotate" | "switch_keys" | "modswitch") => {
                self.multiply(operation, &timer)
            }
            operation => self.convert(operation, &timer),
        }
    }

    /// Times an operation that writes a new ciphertext of k bits, whose allocation is part of it.
    fn gives(
        &self,
        timer: &Timer,
        k: usize,
        expected: &[f64],
        mut run: impl FnMut(&mut Ciphertext, &mut Scratch) -> Result<(), Failure>,
    ) -> Result<Value, Failure> {
        let (maker, mut scratch) = (self.maker(), self.maker().scratch());
        timer.time(
            || (),
            |()| {
                let mut made = maker.ciphertext(k);
                run(&mut made, &mut scratch)?;
                Ok(made)
            },
            |made| self.says(&made, expected),
            None,
        )
    }

    fn add(&self, operation: &str, timer: &Timer) -> Result<Value, Failure> {
        let ([a, b], q, ring) = (&self.ciphertext, &self.plain[1], &self.ring);
        let (maker, k) = (self.maker(), self.parameters.data_bits);
        let sum = self.expected(|x, y| x + y);
        match operation {
            "add" => self.gives(timer, k, &sum, |made, scratch| {
                Ok(ring.ckks_add_into(made, a, b, &mut scratch.borrow())?)
            }),
            "add_in_place" => {
                let mut scratch = maker.scratch();
                timer.time(
                    || a.clone(),
                    |mut own| {
                        ring.ckks_add_assign(&mut own, b, &mut scratch.borrow())?;
                        Ok(own)
                    },
                    |made| self.says(&made, &sum),
                    None,
                )
            }
            "subtract" => self.gives(timer, k, &self.expected(|x, y| x - y), |made, scratch| {
                Ok(ring.ckks_sub_into(made, a, b, &mut scratch.borrow())?)
            }),
            "negate" => self.gives(timer, k, &self.expected(|x, _| -x), |made, scratch| {
                Ok(ring.ckks_neg_into(made, a, &mut scratch.borrow())?)
            }),
            "add_plain" => self.gives(timer, k, &sum, |made, scratch| {
                Ok(ring.ckks_add_pt_vec_into(made, a, q, &mut scratch.borrow())?)
            }),
            _ => self.gives(timer, k, &sum, |made, scratch| {
                let plain = maker.encode(&self.slots[1], SMALL, scratch)?;
                Ok(ring.ckks_add_pt_vec_into(made, a, &plain, &mut scratch.borrow())?)
            }),
        }
    }

    fn multiply(&self, operation: &str, timer: &Timer) -> Result<Value, Failure> {
        let ([a, b], q, ring) = (&self.ciphertext, &self.plain[1], &self.ring);
        let (maker, mut scratch) = (self.maker(), self.maker().scratch());
        let product = self.expected(|x, y| x * y);
        // The library rescales as it multiplies, so that a product is shorter than its factors by the scale.
        let shorter = self.parameters.product_bits();
        match operation {
            "multiply_relin" => {
                let key = maker.product_key(&self.secret, &mut scratch);
                let key = maker.prepared_product_key(&key, &mut scratch);
                self.gives(timer, shorter, &product, |made, scratch| {
                    Ok(ring.ckks_mul_into(made, a, b, &key, &mut scratch.borrow())?)
                })
            }
            "multiply_plain" => self.gives(timer, shorter, &product, |made, scratch| {
                Ok(ring.ckks_mul_pt_vec_into(made, a, q, &mut scratch.borrow())?)
            }),
            "rotate" => {
                let element = ring.ckks_galois_element(1);
                let keys = maker.rotation_keys(&[element], &self.secret, &mut scratch);
                self.gives(timer, self.parameters.data_bits, &self.rotated(), |made, scratch| {
                    Ok(ring.ckks_rotate_into(1, made, a, &keys, &mut scratch.borrow())?)
                })
            }
            "switch_keys" => {
                let other = maker.secret();
                let key = maker.switching_key(&other, &self.secret, &mut scratch);
                let under = maker.encrypt_secret(&self.plain[0], &other, &mut scratch)?;
                self.gives(timer, self.parameters.data_bits, &self.slots[0], |made, scratch| {
                    made.set_meta(under.meta());
                    ring.glwe_keyswitch(made, &under, &key.to_backend_ref(), &mut scratch.borrow());
                    Ok(())
                })
            }
            _ => self.gives(timer, shorter, &self.slots[0], |made, scratch| {
                Ok(ring.ckks_copy(made, a, &mut scratch.borrow())?)
            }),
        }
    }

    fn convert(&self, operation: &str, timer: &Timer) -> Result<Value, Failure> {
        let (maker, mut scratch) = (self.maker(), self.maker().scratch());
        let (first, plain, a) = (&self.slots[0], &self.plain[0], &self.ciphertext[0]);
        let fresh = |made: Ciphertext| self.says(&made, first);
        let decodes = |plain| Ok(near(&maker.decode(&plain, &mut maker.scratch())?, first));
        match operation {
            "encode" => timer.time(|| (), |()| maker.encode(first, SMALL, &mut scratch), decodes, None),
            "decode" => timer.time(
                || (),
                |()| maker.decode(plain, &mut scratch),
                |slots| Ok(near(&slots, first)),
                None,
            ),
            "encrypt_public" => {
                timer.time(|| (), |()| maker.encrypt_public(plain, &self.public, &mut scratch), fresh, None)
            }
            "encrypt_secret" => {
                timer.time(|| (), |()| maker.encrypt_secret(plain, &self.secret, &mut scratch), fresh, None)
            }
            "encode_encrypt_public" => timer.time(
                || (),
                |()| {
                    let plain = maker.encode(first, SMALL, &mut scratch)?;
                    maker.encrypt_public(&plain, &self.public, &mut scratch)
                },
                fresh,
                None,
            ),
            "encode_encrypt_secret" => timer.time(
                || (),
                |()| {
                    let plain = maker.encode(first, SMALL, &mut scratch)?;
                    maker.encrypt_secret(&plain, &self.secret, &mut scratch)
                },
                fresh,
                None,
            ),
            "decrypt" => timer.time(|| (), |()| maker.decrypt(a, &self.secret, &mut scratch), decodes, None),
            "decrypt_decode" => timer.time(
                || (),
                |()| maker.decrypt_decode(a, &self.secret, &mut scratch),
                |slots| Ok(near(&slots, first)),
                None,
            ),
            _ => Err(unsupported()),
        }
    }
}
