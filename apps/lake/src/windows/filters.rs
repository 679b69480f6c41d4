//! The conditions of a query that decide which segments and blocks are read.

use std::collections::BTreeSet;

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, TableProviderFilterPushDown};

use crate::store::Filter;

/// Narrows a filter by a condition. Returns false, and changes nothing, if it cannot say the condition exactly.
pub(crate) fn narrow(filter: &mut Filter, condition: &Expr) -> bool {
    let mut narrowed = filter.clone();
    let exact = apply(&mut narrowed, condition);
    if exact {
        *filter = narrowed;
    }
    exact
}

/// Returns for each condition if a filter says it exactly.
pub(crate) fn pushed_down(conditions: &[&Expr]) -> Vec<TableProviderFilterPushDown> {
    let exact = |condition: &&Expr| match narrow(&mut Filter::default(), condition) {
        true => TableProviderFilterPushDown::Exact,
        false => TableProviderFilterPushDown::Unsupported,
    };
    conditions.iter().map(exact).collect()
}

fn apply(filter: &mut Filter, condition: &Expr) -> bool {
    match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            apply(filter, left) && apply(filter, right)
        }
        // The engine writes a short list of names so.
        Expr::BinaryExpr(BinaryExpr { op: Operator::Or, .. }) => {
            any_of(condition).is_some_and(|(column, texts)| names(filter, &column, &texts))
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match (&**left, &**right) {
            (Expr::Column(column), Expr::Literal(value, _)) => compare(filter, &column.name, *op, value),
            (Expr::Literal(value, _), Expr::Column(column)) => {
                op.swap().is_some_and(|op| compare(filter, &column.name, op, value))
            }
            _ => false,
        },
        Expr::Between(between) if !between.negated => {
            let (Expr::Column(column), Expr::Literal(low, _), Expr::Literal(high, _)) =
                (&*between.expr, &*between.low, &*between.high)
            else {
                return false;
            };
            compare(filter, &column.name, Operator::GtEq, low)
                && compare(filter, &column.name, Operator::LtEq, high)
        }
        Expr::InList(list) if !list.negated => {
            let Expr::Column(column) = &*list.expr else { return false };
            let texts: Option<BTreeSet<String>> = list
                .list
                .iter()
                .map(|item| if let Expr::Literal(value, _) = item { text(value) } else { None })
                .collect();
            texts.is_some_and(|texts| names(filter, &column.name, &texts))
        }
        _ => false,
    }
}

/// Returns the column and the texts of `column = a OR column = b …`.
fn any_of(condition: &Expr) -> Option<(String, BTreeSet<String>)> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = condition else { return None };
    match op {
        Operator::Or => {
            let ((column, mut texts), (other, more)) = (any_of(left)?, any_of(right)?);
            texts.extend(more);
            (column == other).then_some((column, texts))
        }
        Operator::Eq => match (&**left, &**right) {
            (Expr::Column(column), Expr::Literal(value, _))
            | (Expr::Literal(value, _), Expr::Column(column)) => {
                Some((column.name.clone(), BTreeSet::from([text(value)?])))
            }
            _ => None,
        },
        _ => None,
    }
}

fn text(value: &ScalarValue) -> Option<String> {
    value.try_as_str().flatten().map(str::to_owned)
}

/// Keeps devices or streams with one of these names.
fn names(filter: &mut Filter, column: &str, names: &BTreeSet<String>) -> bool {
    let of = match column {
        "device" => &mut filter.devices,
        "stream" => &mut filter.streams,
        _ => return false,
    };
    *of = Some(match of.take() {
        Some(before) => before.intersection(names).cloned().collect(),
        None => names.clone(),
    });
    true
}

fn compare(filter: &mut Filter, column: &str, op: Operator, value: &ScalarValue) -> bool {
    let range = match column {
        "device" | "stream" if op == Operator::Eq => {
            return text(value).is_some_and(|text| names(filter, column, &BTreeSet::from([text])));
        }
        "tenant" if op == Operator::Eq => {
            let Some(tenant) = whole(value) else { return false };
            filter.nothing |= tenant != 0;
            return true;
        }
        "start" => {
            let ScalarValue::TimestampMillisecond(Some(time), _) = value else { return false };
            return limit(&mut filter.starts, op, *time);
        }
        "number" => &mut filter.numbers,
        _ => return false,
    };
    whole(value).is_some_and(|number| limit(range, op, number))
}

fn whole(value: &ScalarValue) -> Option<i64> {
    match value {
        ScalarValue::Int64(value) => *value,
        ScalarValue::Int32(value) => value.map(i64::from),
        ScalarValue::UInt64(value) => value.and_then(|value| i64::try_from(value).ok()),
        _ => None,
    }
}

fn limit(range: &mut (i64, i64), op: Operator, value: i64) -> bool {
    let (low, high) = match op {
        Operator::Eq => (value, value),
        Operator::Lt => match value.checked_sub(1) {
            Some(before) => (i64::MIN, before),
            None => return false,
        },
        Operator::LtEq => (i64::MIN, value),
        Operator::Gt => match value.checked_add(1) {
            Some(behind) => (behind, i64::MAX),
            None => return false,
        },
        Operator::GtEq => (value, i64::MAX),
        _ => return false,
    };
    *range = (range.0.max(low), range.1.min(high));
    true
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::{col, lit};

    use super::*;

    fn time(at: i64) -> Expr {
        Expr::Literal(ScalarValue::TimestampMillisecond(Some(at), Some("UTC".into())), None)
    }

    #[test]
    fn conditions_narrow_and_others_are_left() {
        let mut filter = Filter::default();
        let both = col("start").gt_eq(time(5)).and(time(9).gt(col("start")));
        assert!(narrow(&mut filter, &both));
        assert!(narrow(&mut filter, &col("device").in_list(vec![lit("a"), lit("b")], false)));
        assert!(narrow(&mut filter, &col("device").eq(lit("b"))));
        assert_eq!(filter.starts, (5, 8));
        assert!(filter.has_device("b") && !filter.has_device("a"));
        let before = filter.clone();
        let either = col("device").eq(lit("b")).or(lit("c").eq(col("device")));
        assert!(narrow(&mut filter, &either));
        assert!(!filter.has_device("c"), "an earlier condition has taken it out");
        for other in [
            col("device").not_eq(lit("b")),
            col("start").gt(time(6)).or(col("number").eq(lit(1_i64))),
            col("start").gt(time(6)).and(col("readings").gt(lit(1_i64))),
            col("device").in_list(vec![lit("a")], true),
        ] {
            assert!(!narrow(&mut filter, &other), "{other}");
            assert_eq!(filter, before);
        }
    }
}
