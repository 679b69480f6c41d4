//! Parameters for a circuit of tables: the fastest chain of the smallest degree whose noise bound holds.

use sotto_rlwe::{
    ChainRequest, DefaultChain, Digits, LevelRules, Origin, ParameterSpec, Params, SchemeId, SecurityTarget,
    Shape,
};

use super::Table;
use crate::error::CircuitError;
use crate::machine::{Outline, Tally};

/// Parameters and the cost of the circuit on them.
///
/// Example: [`choose_parameters`]
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The fastest chain of the smallest degree that has room.
    pub spec: ParameterSpec,
    /// Bits between the noise bound of the result and the decryption limit, before primes are dropped for the answer.
    pub room: f64,
    /// Operations and keys.
    pub tally: Tally,
    /// The degrees that were too small, with the reason, smallest first.
    pub refused: Vec<(usize, String)>,
}

/// The degrees that are tried.
const DEGREES: [usize; 4] = [4096, 8192, 16384, 32768];
/// Bits of room that a choice leaves at least: as many as an answer keeps when its primes are dropped.
const LEAST_ROOM: f64 = 2.0;

/// Returns the fastest chain of the smallest degree on which a circuit runs: dry runs of it, by the noise *bound*, on
/// fresh inputs of the given number and origin. The bound of a random polynomial fails with probability 2^-128
/// (docs/concepts/noise.md), and decryption is exact while it holds; so every answer of values within the declared range
/// is right with probability 1 − 2^-128 for each random polynomial behind it.
///
/// ```
/// use sotto_circuits::{Table, choose_parameters};
/// use sotto_rlwe::{Bgv, Origin};
///
/// let limit = Table::greater(0..=255, 80)?;
/// let chosen = choose_parameters::<Bgv>(65_537, Origin::SecretKey, 1, |machine, inputs| {
///     limit.evaluate(machine, &inputs[0])
/// })?;
/// assert_eq!((chosen.spec.degree, chosen.spec.data.len()), (16384, 10));
/// assert!(chosen.room >= 2.0);
/// // Smaller degrees were refused.
/// assert_eq!(chosen.refused.iter().map(|(degree, _)| *degree).collect::<Vec<_>>(), [4096, 8192]);
/// # Ok::<(), sotto_circuits::CircuitError>(())
/// ```
///
/// # Errors
/// [`CircuitError::NoChain`] if no degree up to 32768 has room; the circuit's own refusals that no parameters remedy.
pub fn choose_parameters<S: LevelRules<Value = i64>>(
    plain_modulus: u64,
    origin: Origin,
    inputs: usize,
    circuit: impl Fn(&mut Outline<'_, S>, &[Shape<S>]) -> Result<Shape<S>, CircuitError>,
) -> Result<Chosen, CircuitError> {
    let mut refused: Vec<(usize, String)> = Vec::new();
    for degree in DEGREES {
        let mut reason = String::from("there are no primes for it");
        for spec in table_chains(S::ID, degree, plain_modulus) {
            let Ok(params) = Params::<S>::new(spec.clone()) else { continue };
            let fresh = Shape::fresh(&params, origin, 1.0)?;
            let mut outline = Outline::new(&params);
            match circuit(&mut outline, &vec![fresh; inputs]) {
                Ok(shape) if shape.room(&params) >= LEAST_ROOM => {
                    let tally = outline.tally().clone();
                    return Ok(Chosen { spec, room: shape.room(&params), tally, refused });
                }
                Ok(_) => reason = format!("less than {LEAST_ROOM} bits of noise would be left"),
                Err(error) if error.is_room() => reason = error.to_string(),
                Err(error) => return Err(error),
            }
        }
        refused.push((degree, reason));
    }
    let (degree, reason) = refused.pop().unwrap_or_default();
    Err(CircuitError::NoChain { degree, reason, steps: Table::MOST_STEPS })
}

/// Returns the chains of a degree that [`choose_parameters`] tries, the fastest first: fewer primes, and fewer digits. The
/// largest primes that fit leave the most room.
///
/// ```
/// use sotto_circuits::table_chains;
/// use sotto_rlwe::SchemeId;
///
/// let mut chains = table_chains(SchemeId::Bgv, 16384, 65_537);
/// assert!(chains.any(|spec| spec.data.len() == 10 && spec.special.len() == 2));
/// ```
pub fn table_chains(
    scheme: SchemeId,
    degree: usize,
    plain_modulus: u64,
) -> impl Iterator<Item = ParameterSpec> {
    table_chains_with(scheme, degree, plain_modulus, SecurityTarget::default())
}

/// Returns the chains of [`table_chains`] at another level of security.
///
/// ```
/// use sotto_circuits::table_chains_with;
/// use sotto_rlwe::{SchemeId, SecurityLevel, SecurityProfile, SecurityTarget};
///
/// let security = SecurityTarget::new(SecurityProfile::Guidelines2024, SecurityLevel::Bits192);
/// let mut chains = table_chains_with(SchemeId::Bgv, 32768, 65_537, security);
/// assert!(chains.all(|spec| spec.modulus_bit_length() <= 597));
/// ```
pub fn table_chains_with(
    scheme: SchemeId,
    degree: usize,
    plain_modulus: u64,
    security: SecurityTarget,
) -> impl Iterator<Item = ParameterSpec> {
    let limit = security.limit(degree).unwrap_or(0);
    let request = move |count: usize, special: usize| ChainRequest {
        special_primes: Some(special),
        digits: Some(Digits::Primes(special)),
        levels: Some(count - 1),
        security,
        ..ChainRequest::new(scheme, degree, plain_modulus)
    };
    // Primes of 34 to 45 bits: a product of two rounded ciphertexts takes about 33 + log2 of the sums.
    let counts = limit as usize / 52..=limit as usize / 36;
    let mut all: Vec<(usize, usize)> =
        counts.flat_map(|count| (1..=4).map(move |special| (count, special))).filter(|c| c.0 >= 2).collect();
    all.sort_by_key(|(count, special)| count.div_ceil(*special) * (count + special) + 4 * count);
    let own = all.into_iter().filter_map(move |(count, special)| request(count, special).build().ok());
    let fits = move |spec: &ParameterSpec| spec.data_bits() >= f64::from(limit) * 0.6;
    let default = DefaultChain::spec(scheme, degree, plain_modulus).ok();
    default.into_iter().filter(move |_| degree < 8192).chain(own.filter(fits))
}
