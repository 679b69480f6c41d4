//! Plans as bytes.

use alloc::vec::Vec;

use sotto_program::{
    ConstantId, KeyNumber, KeysNeeded, OutputForm, PlainConstant, Plan, PlanInput, PlanOutput, PlanStep,
    Predicted, Register, Step, limits,
};

use crate::error::WireError;
use crate::frame;
use crate::kind::Kind;
use crate::reader::{Reader, write_name};

/// The largest plan: 64 MiB, in bytes.
pub const LARGEST_PLAN: u64 = 64 << 20;

/// Validates a plan and returns its frame.
///
/// # Errors
/// [`WireError::Plan`] if the plan is invalid, [`WireError::TooLarge`] if the frame exceeds [`LARGEST_PLAN`].
pub fn write_plan(plan: &Plan) -> Result<Vec<u8>, WireError> {
    plan.validate()?;
    let mut payload = plan.parameter_id.to_vec();
    put_count(&mut payload, plan.inputs.len());
    for input in &plan.inputs {
        write_name(&mut payload, &input.name)?;
        payload.extend_from_slice(&input.key.0.to_le_bytes());
    }
    put_count(&mut payload, plan.constants.len());
    plan.constants.iter().for_each(|constant| write_constant(&mut payload, constant));
    put_count(&mut payload, plan.steps.len());
    plan.steps.iter().for_each(|step| write_step(&mut payload, &step.step));
    put_count(&mut payload, plan.outputs.len());
    for output in &plan.outputs {
        write_name(&mut payload, &output.name)?;
        payload.extend_from_slice(&output.register.0.to_le_bytes());
    }
    payload.extend_from_slice(&plan.predicted.noise_bits_left.to_le_bytes());
    payload.push(plan.predicted.levels_used);
    payload.extend_from_slice(&plan.predicted.output_bytes.to_le_bytes());
    if plan.outputs.iter().any(|output| output.form.is_some()) {
        plan.outputs.iter().for_each(|output| write_form(&mut payload, output.form));
    }
    let found = (payload.len() + frame::FRAME_OVERHEAD) as u64;
    if found > LARGEST_PLAN {
        return Err(WireError::TooLarge { limit: LARGEST_PLAN, found });
    }
    Ok(frame::write(Kind::Plan, payload.len(), |out| out.extend_from_slice(&payload)))
}

/// Reads and validates a plan. Derives the keys that it needs from its steps.
///
/// # Errors
/// [`WireError`] if the bytes are not the frame of a valid plan.
pub fn read_plan(bytes: &[u8]) -> Result<Plan, WireError> {
    let mut reader = frame::open(bytes, Kind::Plan, LARGEST_PLAN)?;
    let reader = &mut reader;
    let parameter_id = reader.array()?;
    let inputs =
        list(reader, limits::INPUTS, 4, |r| Ok(PlanInput { name: r.name()?, key: KeyNumber(r.u16()?) }))?;
    let mut coefficients_left = limits::TOTAL_COEFFICIENTS;
    let constants = list(reader, limits::PLAN_CONSTANTS, 7, |r| read_constant(r, &mut coefficients_left))?;
    let mut next = inputs.len() as u32;
    let steps = list(reader, limits::STEPS, 5, |r| {
        let step = PlanStep { step: read_step(r)?, output: Register(next) };
        next += 1;
        Ok(step)
    })?;
    let mut outputs = list(reader, limits::OUTPUTS, 6, |r| {
        Ok(PlanOutput { name: r.name()?, register: Register(r.u32()?), form: None })
    })?;
    let predicted =
        Predicted { noise_bits_left: reader.f64()?, levels_used: reader.u8()?, output_bytes: reader.u64()? };
    // A plan without reduced outputs ends here; the section of forms was added later.
    if reader.left() > 0 {
        for output in &mut outputs {
            output.form = read_form(reader)?;
        }
        if outputs.iter().all(|output| output.form.is_none()) {
            return Err(WireError::Value("a plan whose outputs are all whole must not list their forms"));
        }
    }
    reader.finish()?;
    let mut plan =
        Plan { parameter_id, inputs, constants, steps, outputs, keys: KeysNeeded::default(), predicted };
    plan.keys = plan.keys_needed();
    plan.validate()?;
    Ok(plan)
}

/// Writes the width in bits, or 0 for a whole ciphertext; then log2 of the spacing, and the count.
fn write_form(out: &mut Vec<u8>, form: Option<OutputForm>) {
    let Some(OutputForm { width, spacing, count }) = form else { return out.push(0) };
    out.extend_from_slice(&[width, spacing.ilog2() as u8]);
    out.extend_from_slice(&count.to_le_bytes());
}

fn read_form(reader: &mut Reader<'_>) -> Result<Option<OutputForm>, WireError> {
    let width = reader.u8()?;
    if width == 0 {
        return Ok(None);
    }
    let spacing = 1u32.checked_shl(reader.u8()?.into());
    let spacing = spacing.ok_or(WireError::Value("the spacing of an output's coefficients is too large"))?;
    Ok(Some(OutputForm { width, spacing, count: reader.u32()? }))
}

fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&(count as u32).to_le_bytes());
}

/// Reads a counted list. Checks the count against `most` and against the remaining bytes before it allocates.
fn list<T>(
    reader: &mut Reader<'_>,
    most: usize,
    least_bytes: usize,
    mut item: impl FnMut(&mut Reader<'_>) -> Result<T, WireError>,
) -> Result<Vec<T>, WireError> {
    let count = reader.u32()? as usize;
    if count > most {
        return Err(WireError::Value("a list is longer than plans allow"));
    }
    if count.saturating_mul(least_bytes) > reader.left() {
        return Err(WireError::Truncated {
            expected: (count * least_bytes) as u64,
            found: reader.left() as u64,
        });
    }
    (0..count).map(|_| item(reader)).collect()
}

/// Writes level, power, width in bytes, count, then sign-extended little-endian integers of the smallest width that
/// holds them all.
fn write_constant(out: &mut Vec<u8>, constant: &PlainConstant) {
    let width = constant.coefficients.iter().map(|c| width(*c)).max().unwrap_or(1);
    out.extend_from_slice(&[constant.level, constant.power, width as u8]);
    put_count(out, constant.coefficients.len());
    for c in &constant.coefficients {
        out.extend_from_slice(&c.to_le_bytes()[..width]);
    }
}

fn width(c: i64) -> usize {
    let significant = 65 - (if c < 0 { !c } else { c }).leading_zeros() as usize;
    significant.div_ceil(8)
}

fn read_constant(reader: &mut Reader<'_>, left: &mut usize) -> Result<PlainConstant, WireError> {
    let [level, power, bytes] = reader.array()?;
    let bytes = usize::from(bytes);
    if !(1..=8).contains(&bytes) {
        return Err(WireError::Value("a coefficient has 1 to 8 bytes"));
    }
    let count = reader.u32()? as usize;
    if count > limits::COEFFICIENTS || count > *left {
        return Err(WireError::Value("a plan has too many coefficients"));
    }
    *left -= count;
    let packed = reader.take(count * bytes)?;
    let shift = 64 - 8 * bytes as u32;
    let coefficient = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..bytes].copy_from_slice(chunk);
        (i64::from_le_bytes(word) << shift) >> shift
    };
    let coefficients: Vec<i64> = packed.chunks_exact(bytes).map(coefficient).collect();
    if coefficients.iter().map(|c| width(*c)).max().unwrap_or(1) != bytes {
        return Err(WireError::Value("coefficients are not written at their smallest width"));
    }
    Ok(PlainConstant { coefficients, level, power })
}

fn write_step(out: &mut Vec<u8>, step: &Step) {
    let mut put = |code: u8, a: Register, rest: &[u8]| {
        out.push(code);
        out.extend_from_slice(&a.0.to_le_bytes());
        out.extend_from_slice(rest);
    };
    match *step {
        Step::Add(a, b) => put(1, a, &b.0.to_le_bytes()),
        Step::Sub(a, b) => put(2, a, &b.0.to_le_bytes()),
        Step::Negate(a) => put(3, a, &[]),
        Step::AddPlain(a, c) => put(4, a, &c.0.to_le_bytes()),
        Step::MultiplyPlain(a, c) => put(5, a, &c.0.to_le_bytes()),
        Step::MultiplyScalar(a, scalar) => put(6, a, &scalar.to_le_bytes()),
        Step::Multiply(a, b) => put(7, a, &b.0.to_le_bytes()),
        Step::Relinearise(a) => put(8, a, &[]),
        Step::DropModulus { of, count } => put(9, of, &[count]),
        Step::MatchScale { of, level } => put(10, of, &[level]),
        Step::MatchFactor { of, scalar } => put(11, of, &scalar.to_le_bytes()),
        Step::Rotate(a, steps) => put(12, a, &steps.to_le_bytes()),
        Step::SwapRows(a) => put(13, a, &[]),
        Step::SwitchKey(a) => put(14, a, &[]),
        Step::MultiplyMonomial(a, power) => put(15, a, &power.to_le_bytes()),
        Step::Table { of, values, first } => {
            put(16, of, &[values.0.to_le_bytes(), first.to_le_bytes()].concat());
        }
        Step::Sign { of, gap_bits } => put(17, of, &[gap_bits]),
    }
}

fn read_step(reader: &mut Reader<'_>) -> Result<Step, WireError> {
    let code = reader.u8()?;
    let a = Register(reader.u32()?);
    Ok(match code {
        1 => Step::Add(a, Register(reader.u32()?)),
        2 => Step::Sub(a, Register(reader.u32()?)),
        3 => Step::Negate(a),
        4 => Step::AddPlain(a, ConstantId(reader.u32()?)),
        5 => Step::MultiplyPlain(a, ConstantId(reader.u32()?)),
        6 => Step::MultiplyScalar(a, reader.i64()?),
        7 => Step::Multiply(a, Register(reader.u32()?)),
        8 => Step::Relinearise(a),
        9 => Step::DropModulus { of: a, count: reader.u8()? },
        10 => Step::MatchScale { of: a, level: reader.u8()? },
        11 => Step::MatchFactor { of: a, scalar: reader.i64()? },
        12 => Step::Rotate(a, reader.u32()? as i32),
        13 => Step::SwapRows(a),
        14 => Step::SwitchKey(a),
        15 => Step::MultiplyMonomial(a, reader.u32()?),
        16 => Step::Table { of: a, values: ConstantId(reader.u32()?), first: reader.u32()? as i32 },
        17 => Step::Sign { of: a, gap_bits: reader.u8()? },
        _ => return Err(WireError::Value("a step is not known")),
    })
}
