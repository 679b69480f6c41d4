//! Random expressions over two vectors: the answer is within its bound of the value in the clear, in all three schemes.

use std::sync::OnceLock;

use proptest::prelude::*;
use sotto::{Arithmetic, Bfv, Bgv, Ckks, Context, Encrypted, Error, Public, Result, Secret};

/// An expression over the inputs x and y.
#[derive(Clone, Debug)]
enum Expression {
    X,
    Y,
    Add(Box<Expression>, Box<Expression>),
    Subtract(Box<Expression>, Box<Expression>),
    Multiply(Box<Expression>, Box<Expression>),
    Negate(Box<Expression>),
    Shift(Box<Expression>, i8),
    Scale(Box<Expression>, i8),
    Sum(Box<Expression>),
    Square(Box<Expression>),
    /// Value i of the result, which is as long as the argument, has the index (a·i + b) modulo the length.
    Select(Box<Expression>, usize, usize),
    Weigh(Box<Expression>, i8, Box<Expression>, i8),
}

use Expression::{Add, Multiply, Negate, Scale, Select, Shift, Square, Subtract, Sum, Weigh, X, Y};

fn expressions() -> impl Strategy<Value = Expression> {
    let leaf = prop_oneof![Just(X), Just(Y)];
    leaf.prop_recursive(4, 10, 2, |inner| {
        let one = || inner.clone().prop_map(Box::new);
        prop_oneof![
            (one(), one()).prop_map(|(a, b)| Add(a, b)),
            (one(), one()).prop_map(|(a, b)| Subtract(a, b)),
            (one(), one()).prop_map(|(a, b)| Multiply(a, b)),
            one().prop_map(Negate),
            (one(), any::<i8>()).prop_map(|(a, c)| Shift(a, c)),
            (one(), (-9_i8..10).prop_filter("zero is refused", |c| *c != 0)).prop_map(|(a, c)| Scale(a, c)),
            one().prop_map(Sum),
            one().prop_map(Square),
            (one(), 0..9_usize, 0..9_usize).prop_map(|(e, a, b)| Select(e, a, b)),
            (one(), -9_i8..10, one(), 1..10_i8).prop_map(|(a, v, b, w)| Weigh(a, v, b, w)),
        ]
    })
}

fn indices(a: usize, b: usize, len: usize) -> Vec<usize> {
    (0..len).map(|i| (a * i + b) % len).collect()
}

/// The meaning: vectors of equal length, or of length 1.
fn clear(expression: &Expression, x: &[f64], y: &[f64]) -> Vec<f64> {
    let both = |a: &Expression, b: &Expression, f: fn(f64, f64) -> f64| {
        let (a, b) = (clear(a, x, y), clear(b, x, y));
        let at = |v: &[f64], i: usize| v[i.min(v.len() - 1)];
        (0..a.len().max(b.len())).map(|i| f(at(&a, i), at(&b, i))).collect()
    };
    let each = |a: &Expression, f: &dyn Fn(f64) -> f64| clear(a, x, y).into_iter().map(f).collect();
    match expression {
        X => x.to_vec(),
        Y => y.to_vec(),
        Add(a, b) => both(a, b, |a, b| a + b),
        Subtract(a, b) => both(a, b, |a, b| a - b),
        Multiply(a, b) => both(a, b, |a, b| a * b),
        Negate(a) => each(a, &|a| -a),
        Shift(a, c) => each(a, &|a| a + f64::from(*c)),
        Scale(a, c) => each(a, &|a| a * f64::from(*c)),
        Sum(a) => vec![clear(a, x, y).iter().sum()],
        Square(a) => each(a, &|a| a * a),
        Select(e, a, b) => {
            let values = clear(e, x, y);
            indices(*a, *b, values.len()).into_iter().map(|index| values[index]).collect()
        }
        Weigh(a, v, b, w) => {
            let (v, w) = (f64::from(*v), f64::from(*w));
            let (a, b) = (clear(a, x, y), clear(b, x, y));
            let at = |v: &[f64], i: usize| v[i.min(v.len() - 1)];
            (0..a.len().max(b.len())).map(|i| v * at(&a, i) + w * at(&b, i)).collect()
        }
    }
}

/// Operators that the tests call in every scheme.
pub(crate) trait Public1: Arithmetic {
    fn shift(a: &Encrypted<Self>, by: i8) -> Result<Encrypted<Self>>;
    fn scale(a: &Encrypted<Self>, by: i8) -> Result<Encrypted<Self>>;
    fn value(value: f64) -> Self::Value;
    fn real(value: Self::Value) -> f64;
}

macro_rules! scheme {
    ($scheme:ty, $value:ty) => {
        impl Public1 for $scheme {
            fn shift(a: &Encrypted<Self>, by: i8) -> Result<Encrypted<Self>> {
                a + <$value>::from(by)
            }
            fn scale(a: &Encrypted<Self>, by: i8) -> Result<Encrypted<Self>> {
                a * <$value>::from(by)
            }
            fn value(value: f64) -> $value {
                value as $value
            }
            fn real(value: $value) -> f64 {
                value as f64
            }
        }
    };
}

scheme!(Ckks, f64);
scheme!(Bfv, i64);
scheme!(Bgv, i64);

fn encrypted<S: Public1>(e: &Expression, x: &Encrypted<S>, y: &Encrypted<S>) -> Result<Encrypted<S>> {
    let at = |e: &Expression| encrypted(e, x, y);
    match e {
        X => Ok(x.clone()),
        Y => Ok(y.clone()),
        Add(a, b) => at(a)? + at(b)?,
        Subtract(a, b) => &at(a)? - at(b)?,
        Multiply(a, b) => at(a)? * &at(b)?,
        Negate(a) => at(a).and_then(|a| -a),
        Shift(a, c) => S::shift(&at(a)?, *c),
        Scale(a, c) => S::scale(&at(a)?, *c),
        Sum(a) => at(a)?.sum(),
        Square(a) => at(a)?.square(),
        Select(e, a, b) => {
            let values = at(e)?;
            values.select(&indices(*a, *b, values.len()))
        }
        Weigh(a, v, b, w) => {
            Encrypted::weighted_sum(&[&at(a)?, &at(b)?], &[S::value(f64::from(*v)), S::value(f64::from(*w))])
        }
    }
}

pub(crate) struct Party<S: Arithmetic> {
    pub(crate) secret: Secret<S>,
    pub(crate) public: Public<S>,
}

pub(crate) fn party<S: Arithmetic>(context: &Context<S>) -> Party<S> {
    let (secret, public) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    Party { secret, public }
}

/// Holds one expression against the clear, here and by way of bytes and a plan. True if the parameters took it.
fn holds<S: Public1>(party: &Party<S>, expression: &Expression, x: &[f64], y: &[f64]) -> bool {
    let values = |v: &[f64]| v.iter().map(|value| S::value(*value)).collect::<Vec<_>>();
    let (x_in, y_in) = (values(x), values(y));
    let (a, b) = (party.secret.encrypt(&x_in).unwrap(), party.public.encrypt(&y_in).unwrap());
    let real = |v: &[S::Value]| v.iter().map(|value| S::real(*value)).collect::<Vec<_>>();
    let expected = clear(expression, &real(&x_in), &real(&y_in));
    let context = party.secret.context();
    let plan = context.plan(&[x.len(), y.len()], |v| encrypted(expression, &v[0], &v[1]));
    let direct = encrypted(expression, &a, &b).and_then(|found| party.secret.decrypt(&found));
    let (plan, direct) = match (plan, direct) {
        (Ok(plan), Ok(direct)) => (plan, direct),
        // The plan supposes the noisier encryption; it may refuse more, never less.
        (Err(_), Ok(_)) => return false,
        (plan, Err(error)) => {
            let room = matches!(error, Error::Depth { .. } | Error::Wraps { .. } | Error::Circuit(_));
            assert!(room && plan.is_err(), "{expression:?}: {error}");
            return false;
        }
    };
    let check = |found: &sotto::Answer<S>, way: &str| {
        let found_values = real(found.values());
        assert_eq!(found_values.len(), expected.len(), "{expression:?} {way}");
        for (value, exact) in found_values.iter().zip(&expected) {
            assert!(
                (value - exact).abs() <= found.bound(),
                "{expression:?} {way}: {value} for {exact}, {found:?}"
            );
        }
    };
    check(&direct, "here");
    let cloud = |secret_bytes: &[u8]| party.public.read(secret_bytes).unwrap();
    let (sent_x, sent_y) = (party.secret.encrypt_to_bytes(&x_in).unwrap(), b.to_bytes().unwrap());
    let computed = encrypted(expression, &cloud(&sent_x), &cloud(&sent_y)).unwrap();
    assert!(matches!(party.secret.decrypt(&computed), Err(Error::Claimed)));
    let short = computed.for_answer().and_then(|short| short.to_bytes());
    let planned = context.plan(&[x.len(), y.len()], |v| encrypted(expression, &v[0], &v[1])?.for_answer());
    if let (Ok(bytes), Ok(planned)) = (short, planned) {
        check(&party.secret.decrypt_answer(&bytes, &planned).unwrap(), "by few bytes");
    }
    match computed.to_bytes() {
        Ok(bytes) => check(&party.secret.decrypt_answer(&bytes, &plan).unwrap(), "by bytes"),
        // x − x: everybody could read it, and it is not sent.
        Err(error) => assert!(error.to_string().contains("whatever the inputs are"), "{error}"),
    }
    true
}

static REAL: OnceLock<Party<Ckks>> = OnceLock::new();
static BFV: OnceLock<Party<Bfv>> = OnceLock::new();
static BGV: OnceLock<Party<Bgv>> = OnceLock::new();

fn exact<S: Arithmetic>() -> Party<S> {
    party(
        &Context::builder()
            .values_within(50.0)
            .public_inputs()
            .results_within(1e12)
            .depth(2)
            .build()
            .unwrap(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn answers_are_within_their_bound(
        expression in expressions(),
        x in prop::collection::vec(-50.0..50.0, 1..9),
        seed in any::<u64>(),
    ) {
        let y: Vec<f64> = (0..x.len()).map(|i| (seed.rotate_left(7 * i as u32) % 101) as f64 - 50.0).collect();
        let real = REAL.get_or_init(|| {
            party(&Context::builder().values_within(50.0).public_inputs().depth(3).build().unwrap())
        });
        holds(real, &expression, &x, &y);
        holds(BFV.get_or_init(exact), &expression, &x, &y);
        holds(BGV.get_or_init(exact), &expression, &x, &y);
    }
}

#[test]
fn an_expression_of_every_operation_is_not_refused() {
    let all = Weigh(
        Box::new(Add(
            Box::new(Scale(Box::new(Square(Box::new(Subtract(Box::new(X), Box::new(Y))))), 3)),
            Box::new(Sum(Box::new(Multiply(Box::new(Negate(Box::new(X))), Box::new(Shift(Box::new(Y), 5)))))),
        )),
        2,
        Box::new(Select(Box::new(X), 7, 3)),
        -5,
    );
    let x: Vec<f64> = (0..300).map(|i| f64::from(i % 101) - 50.0).collect();
    let y: Vec<f64> = (0..300).map(|i| f64::from(i * 7 % 101) - 50.0).collect();
    assert!(holds(
        REAL.get_or_init(|| party(
            &Context::builder().values_within(50.0).public_inputs().depth(3).build().unwrap()
        )),
        &all,
        &x,
        &y
    ));
    assert!(holds(BFV.get_or_init(exact), &all, &x, &y));
    assert!(holds(BGV.get_or_init(exact), &all, &x, &y));
}
