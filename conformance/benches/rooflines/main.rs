//! What the operations that take longest beside other libraries are made of: `cargo bench -p sotto-conformance --bench
//! rooflines`. Each part is timed alone, in buffers of the operation's own sizes, and the sum is held against the whole: what
//! it accounts for cannot be saved but by faster parts. Medians in microseconds. Where memory is the limit, the bytes that have
//! to be read, and at what rate a plain sum reads as many.

mod edges;
mod parts;
mod product;
mod switching;

use sotto_conformance::{Fixture, Testable};
use sotto_rlwe::{Bfv, Bgv, Ckks, SchemeId};

fn switching<S: Testable>(f: &mut Fixture<S>) {
    switching::hoisted(f);
    if f.params.degree() <= 8192 {
        switching::rotation(f);
        if S::ID != SchemeId::Bfv {
            switching::product_and_relinearisation(f);
        }
        switching::galois_keys(f);
    }
}

fn main() {
    let degrees: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    for degree in if degrees.is_empty() { vec![4096, 8192, 16384, 32768] } else { degrees } {
        let mut bfv = Fixture::<Bfv>::default_chain(degree, 1);
        let mut bgv = Fixture::<Bgv>::default_chain(degree, 1);
        if degree <= 8192 {
            edges::encryption(&mut bfv);
            edges::key_generation(&mut bfv);
        }
        edges::decryption(&mut bfv);
        edges::decryption(&mut bgv);
        edges::parsing(&mut bfv);
        product::bfv(&mut bfv);
        switching(&mut bfv);
        switching(&mut bgv);
        switching(&mut Fixture::<Ckks>::default_chain(degree, 1));
    }
}
