//! Observers see every step of a call, and can stop it.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::rc::Rc;

use sotto::{Bfv, Ckks, Context, Encrypted, Error, Progress, Result, secure_rng, watched};

/// Runs a call and returns its progress reports.
fn reports<T>(work: impl FnOnce() -> Result<T>) -> Result<Vec<Progress>> {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let seen_by = Rc::clone(&seen);
    watched(
        move |progress| {
            seen_by.borrow_mut().push(progress);
            ControlFlow::Continue(())
        },
        work,
    )?;
    let seen = seen.take();
    Ok(seen)
}

/// One call, by name, on a vector.
type Call<S> = (&'static str, fn(&Encrypted<S>) -> Result<Encrypted<S>>);

fn calls<S: sotto::Arithmetic>() -> Vec<Call<S>> {
    vec![
        ("square", |x| x.square()),
        ("product", |x| x * x),
        ("sum", |x| x.sum()),
        ("dot", |x| x.dot(x)),
        ("power", |x| x.pow(3)),
        ("select", |x| x.select(&[5, 3, 1])),
    ]
}

fn counted<S: sotto::Arithmetic>(context: &Context<S>, x: &Encrypted<S>) -> Result<()> {
    for (name, call) in calls::<S>() {
        let seen = reports(|| call(x))?;
        let mut stages = 0;
        let mut left = seen.as_slice();
        while let [Progress { total, .. }, ..] = *left {
            let expected: Vec<_> = (1..=total).map(|done| Progress { done, total }).collect();
            assert_eq!(left[..total.min(left.len())], expected, "{name} of {context}");
            (stages, left) = (stages + 1, &left[total..]);
        }
        assert!((1..=2).contains(&stages), "{name}: {stages} stages");
        // Stopped at any step, the call is an error, and the same call works afterwards.
        for stop in [1, seen.len().div_ceil(2), seen.len()] {
            let reports = Cell::new(0);
            let observer = move |_| {
                reports.set(reports.get() + 1);
                if reports.get() == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let stopped = watched(observer, || call(x));
            assert!(matches!(stopped, Err(Error::Interrupted)), "{name} stopped at {stop}");
        }
        call(x)?;
    }
    Ok(())
}

#[test]
fn every_operation_is_reported_and_can_be_stopped() -> Result<()> {
    let context = Context::<Ckks>::for_depth(3)?;
    let (secret, _) = context.keys(&mut secure_rng()?)?;
    let values = vec![0.5; 2 * context.slots() + 1];
    counted(&context, &secret.encrypt(&values)?)?;
    let context = Context::<Bfv>::builder().depth(2).values_within(2.0).results_within(1e6).build()?;
    let (secret, _) = context.keys(&mut secure_rng()?)?;
    counted(&context, &secret.encrypt(&[2; 9])?)
}

#[test]
fn encryption_and_decryption_report_ciphertexts() -> Result<()> {
    let context = Context::<Ckks>::for_depth(1)?;
    let (secret, public) = context.keys(&mut secure_rng()?)?;
    let values = vec![1.25; 3 * context.slots()];
    let expected: Vec<_> = (1..=3).map(|done| Progress { done, total: 3 }).collect();
    assert_eq!(reports(|| secret.encrypt(&values))?, expected);
    assert_eq!(reports(|| public.encrypt(&values))?, expected);
    let x = secret.encrypt(&values)?;
    assert_eq!(reports(|| secret.decrypt(&x))?, expected);
    Ok(())
}

#[test]
fn the_outer_observer_comes_back() -> Result<()> {
    let context = Context::<Ckks>::for_depth(1)?;
    let (secret, _) = context.keys(&mut secure_rng()?)?;
    let seen = reports(|| {
        let inner = reports(|| secret.encrypt(&[1.0]))?;
        assert_eq!(inner.len(), 1);
        let panicked =
            std::panic::catch_unwind(|| watched(|_| ControlFlow::Continue(()), || panic!("inner")));
        assert!(panicked.is_err());
        secret.encrypt(&vec![1.0; 2 * context.slots()])
    })?;
    assert_eq!(seen.len(), 2);
    assert!(reports(|| Ok(()))?.is_empty());
    Ok(())
}
