//! Text form of plans, one line per step.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;

use super::{KeysNeeded, OutputForm, Plan, PlanStep, Register, Step};

impl fmt::Display for Register {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "r{}", self.0)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())?;
        for register in self.operands() {
            write!(out, " {register}")?;
        }
        match *self {
            Self::AddPlain(_, constant) | Self::MultiplyPlain(_, constant) => write!(out, " c{}", constant.0),
            Self::MultiplyScalar(_, by) | Self::MatchFactor { scalar: by, .. } => write!(out, " by {by}"),
            Self::DropModulus { count, .. } => write!(out, " by {count}"),
            Self::MatchScale { level, .. } => write!(out, " to level {level}"),
            Self::Rotate(_, by) => write!(out, " by {by}"),
            Self::Sign { gap_bits, .. } => write!(out, " with gap 2^-{gap_bits}"),
            Self::MultiplyMonomial(_, power) => write!(out, " by X^{power}"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for KeysNeeded {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut keys = Vec::new();
        if self.relinearisation {
            keys.push("relinearisation".to_owned());
        }
        if !self.rotations.is_empty() {
            let steps: Vec<String> = self.rotations.iter().map(i32::to_string).collect();
            keys.push(format!("rotation by {}", steps.join(" ")));
        }
        if self.swap_rows {
            keys.push("row swap".to_owned());
        }
        if !self.transfers.is_empty() {
            let from: Vec<String> = self.transfers.iter().map(ToString::to_string).collect();
            keys.push(format!("transfer from key {}", from.join(" ")));
        }
        out.write_str(&if keys.is_empty() { "none".to_owned() } else { keys.join(", ") })
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("parameters ")?;
        for byte in &self.parameter_id[..8] {
            write!(out, "{byte:02x}")?;
        }
        writeln!(out, "…")?;
        for (index, input) in self.inputs.iter().enumerate() {
            write!(out, "r{index} = input {}", input.name)?;
            if input.key.is_foreign() {
                write!(out, " under key {}", input.key)?;
            }
            writeln!(out)?;
        }
        for (index, constant) in self.constants.iter().enumerate() {
            let (count, level, power) = (constant.coefficients.len(), constant.level, constant.power);
            let plural = if count == 1 { "" } else { "s" };
            writeln!(
                out,
                "c{index} = constant of {count} coefficient{plural}, level {level}, power {power}"
            )?;
        }
        for PlanStep { step, output } in &self.steps {
            writeln!(out, "{output} = {step}")?;
        }
        for output in &self.outputs {
            write!(out, "output {} = {}", output.name, output.register)?;
            if let Some(OutputForm { width, spacing, count }) = output.form {
                write!(out, " at {width} bits, {count} of every {spacing} coefficients")?;
            }
            writeln!(out)?;
        }
        writeln!(out, "keys: {}", self.keys)?;
        let predicted = &self.predicted;
        let (bits, levels, bytes) =
            (predicted.noise_bits_left, predicted.levels_used, predicted.output_bytes);
        write!(out, "predicted: {bits:.1} bits of noise left, {levels} levels used, {bytes} bytes out")
    }
}
