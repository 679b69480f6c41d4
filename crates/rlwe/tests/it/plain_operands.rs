//! Plaintexts prepared for other parameters are refused, although the shapes fit.

use crate::owner;

use owner::Owner;
use sotto_ring::{Scratch, Seed};
use sotto_rlwe::{Addend, Bfv, EvalError, Evaluator, Multiplier, Params, Scheme};

#[test]
fn prepared_plaintexts_belong_to_their_parameters() {
    let (params, others) = (
        Params::<Bfv>::default_chain(4096, 65_537).unwrap(),
        Params::<Bfv>::default_chain(4096, 786_433).unwrap(),
    );
    assert_eq!(params.top_level(), others.top_level());
    let top = params.top_level();
    let encoded = |params: &Params<Bfv>| Bfv::encode_slots(params, &[3, 4], top).unwrap();
    let (own, foreign) = (encoded(&params), encoded(&others));
    let evaluator = Evaluator::new(&params);
    let mut a = Owner::new(&params, 1).encrypt(&own, Seed([3; 24])).unwrap().expand();
    let mut sum = a.clone();
    let scratch = &mut Scratch::new();
    // Prepared for others, and encoded for others.
    for (params, plaintext) in [(&others, &foreign), (&others, &own), (&params, &foreign)] {
        let addend = Addend::new(params, plaintext, top, ());
        let factor = Multiplier::new(params, plaintext, top);
        let results = [
            evaluator.add_plain(&a, &addend).map(drop),
            evaluator.add_plain_assign(&mut a, &addend),
            evaluator.multiply_plain(&a, &factor).map(drop),
            evaluator.multiply_plain_with(&a, &factor, scratch).map(drop),
            evaluator.add_multiplied_plain_assign(&mut sum, &a, &factor, scratch),
        ];
        for result in results {
            assert!(matches!(result, Err(EvalError::ParameterMismatch)), "{result:?}");
        }
    }
    evaluator.add_plain(&a, &Addend::new(&params, &own, top, ())).unwrap();
    evaluator.multiply_plain(&a, &Multiplier::new(&params, &own, top)).unwrap();
}
