//! Upper limits on the size of an expression, a program and a plan. Input from outside is checked against
//! them first.

/// Bytes of an expression given to the parser: 64 KiB.
pub const EXPRESSION_BYTES: usize = 64 << 10;
/// Nested parentheses, brackets and function calls.
pub const NESTING: usize = 64;
/// Largest exponent of `^`.
pub const EXPONENT: u32 = 1024;
/// Values of one constant: a vector literal, or a constant of a program.
pub const VECTOR: usize = 65_536;
/// Operations of a program.
pub const NODES: usize = 100_000;
/// Inputs of a program or a plan.
pub const INPUTS: usize = 1024;
/// Foreign keys of the inputs of a program or a plan: see [`KeyNumber`](crate::KeyNumber).
pub const FOREIGN_KEYS: usize = 64;
/// Outputs of a program or a plan.
pub const OUTPUTS: usize = 256;
/// Constants of a program, before equal ones are shared.
pub const PROGRAM_CONSTANTS: usize = NODES;
/// Bytes of the name of an input or an output.
pub const NAME_BYTES: usize = 64;
/// Largest rotation in slots, in either direction.
pub const ROTATION: u32 = 65_536;
/// Largest width of a sum, in slots.
pub const SUM_WIDTH: u32 = 65_536;
/// Slots of a [`SlotShape`](crate::SlotShape).
pub const SLOTS: usize = 131_072;
/// Values of one table.
pub const TABLE: core::ops::RangeInclusive<u32> = 2..=511;
/// Bits of the gaps with which the sign of reals is approximated, ascending.
pub const GAP_BITS: [u8; 4] = [4, 6, 8, 12];
/// Steps of a plan.
pub const STEPS: usize = 100_000;
/// Maximum number of constants in a plan.
pub const PLAN_CONSTANTS: usize = 4096;
/// Coefficients of one constant of a plan.
pub const COEFFICIENTS: usize = 131_072;
/// Bits per coefficient of a reduced output.
pub const OUTPUT_BITS: core::ops::RangeInclusive<u8> = 8..=56;
/// Coefficients of all constants of a plan together; they take 128 MiB.
pub const TOTAL_COEFFICIENTS: usize = 1 << 24;
