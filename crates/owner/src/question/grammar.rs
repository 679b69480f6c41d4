//! A recursive-descent parser from tokens to a question. Only parentheses recurse; [`limits::NESTING`] bounds them.

use std::collections::BTreeSet;

use sotto_program::text;

use super::{AlongGroups, Expression, Offset, Priced, Question, Selected, along};
use crate::functions::{self, Call};
use crate::language::{
    By, Clause, Cycle, Devices, Name, Parsed, Parser, QuestionErrorKind as Kind, RESERVED, Ranking, Scope,
    Spanned, TextSpans, Token, in_unit, limits, near, outside_of_a_call, unquoted,
};
use crate::units::Unit;

const VALUE: &str = "a function such as mean(temperature), a number or '('";

/// An expression, with the depth of its operators.
pub(super) struct Term {
    pub(super) expression: Expression,
    depth: usize,
}

impl Term {
    fn leaf(expression: Expression) -> Self {
        Self { expression, depth: 1 }
    }
}

/// Parses a text of any length.
pub(super) fn question(text: &str) -> Parsed<(Question, TextSpans)> {
    let mut parser = Parser::new(text);
    if parser.peek()?.token == Token::End {
        return Err(parser.error(Kind::Empty, text.len()));
    }
    let ranking = parser.ranking()?;
    let select = parser.select()?;
    parser.check_ranking(ranking, &select)?;
    let clauses = parser.clauses(ranking)?;
    let question = clauses.question(ranking, select);
    parser.check_groups(&question)?;
    Ok((question, parser.places))
}

impl<'t> Parser<'t> {
    fn select(&mut self) -> Parsed<Vec<Selected>> {
        let mut select = Vec::new();
        let mut names = BTreeSet::new();
        loop {
            let start = self.start();
            if select.len() == limits::SELECTED {
                return Err(
                    self.error(Kind::TooMany { of: "selected expressions", limit: limits::SELECTED }, start)
                );
            }
            self.places.selected.push(start);
            let first_call = self.places.calls.len();
            let expression = self.sum()?.expression;
            self.check_calls(&expression, start, first_call)?;
            let (mut named_at, mut name, mut unit) = (start, None, None);
            loop {
                if name.is_none() && self.accept_word("as")? {
                    named_at = self.start();
                    name = Some(self.name("a name for the result")?);
                } else if unit.is_none() && self.accept_word("in")? {
                    unit = Some(self.unit(&expression)?);
                } else {
                    break;
                }
            }
            let selected = Selected { expression, unit, name };
            if !names.insert(selected.name()) {
                let name = text::excerpt(&selected.name());
                return Err(self.error(Kind::NameTwice { name }, named_at));
            }
            select.push(selected);
            if !self.accept(',')? {
                return Ok(select);
            }
        }
    }

    /// Refuses a first result without an order.
    fn check_ranking(&self, ranking: Option<Ranking>, select: &[Selected]) -> Parsed<()> {
        let first = select.first().and_then(|first| first.expression.only_call());
        match first.filter(|call| ranking.is_some() && call.is_vector()) {
            Some(call) => {
                let at = self.places.selected.first().copied().unwrap_or_default();
                Err(self.error(Kind::RankedBySeveral { call: call.function() }, at))
            }
            None => Ok(()),
        }
    }

    /// Reads the unit after `in`: without white space and commas, or in quotes.
    fn unit(&mut self, of: &Expression) -> Parsed<String> {
        let at = self.start();
        if let Some(call) = of.only_call()
            && call.is_vector()
        {
            return Err(self.error(Kind::UnitOfSeveral { call: call.function() }, at));
        }
        let unit = match self.quoted(at)? {
            Some(quoted) => quoted,
            None => self.raw(in_unit).to_owned(),
        };
        if Unit::read(&unit).is_none() || unit.is_empty() {
            return Err(self.error(Kind::Unit { unit: text::excerpt(&unit) }, at));
        }
        Ok(unit)
    }

    /// Checks that an expression has a call, and that a call with several values stands alone.
    pub(super) fn check_calls(&self, expression: &Expression, start: usize, first_call: usize) -> Parsed<()> {
        let places = &self.places.calls[first_call..];
        if places.is_empty() {
            return Err(self.error(Kind::NoCall, start));
        }
        if expression.only_call().is_some() {
            return Ok(());
        }
        match expression.calls().zip(places).find(|(call, _)| call.is_vector()) {
            Some((call, at)) => {
                let kind = Kind::VectorInArithmetic { call: call.function(), instead: call.instead() };
                Err(self.error(kind, *at))
            }
            None => Ok(()),
        }
    }

    pub(super) fn sum(&mut self) -> Parsed<Term> {
        let mut total = self.product()?;
        loop {
            let operator = self.peek()?;
            let make = match operator.token {
                Token::Symbol('+') => Expression::Add,
                Token::Symbol('-') => Expression::Subtract,
                _ => return Ok(total),
            };
            self.end = operator.end;
            let term = self.product()?;
            total = self.both(make, total, term, operator.start)?;
        }
    }

    fn product(&mut self) -> Parsed<Term> {
        let mut product = self.unary()?;
        loop {
            let operator = self.peek()?;
            let make = match operator.token {
                Token::Symbol('*') => Expression::Multiply,
                Token::Symbol('/') => Expression::Divide,
                _ => return Ok(product),
            };
            self.end = operator.end;
            let at = self.start();
            let factor = self.unary()?;
            if operator.token == Token::Symbol('/') && factor.expression.constant() == Some(0.0) {
                return Err(self.error(Kind::DivisionByZero, at));
            }
            product = self.both(make, product, factor, operator.start)?;
        }
    }

    fn both(
        &self,
        make: fn(Box<Expression>, Box<Expression>) -> Expression,
        left: Term,
        right: Term,
        at: usize,
    ) -> Parsed<Term> {
        let depth = self.bounded(left.depth.max(right.depth) + 1, at)?;
        Ok(Term { expression: make(left.expression.into(), right.expression.into()), depth })
    }

    /// Parses minus signs and a value. A sign directly before a number belongs to the number.
    fn unary(&mut self) -> Parsed<Term> {
        let start = self.start();
        let mut signs = 0;
        while self.accept('-')? {
            signs = self.bounded(signs + 1, start)?;
        }
        let next = self.peek()?;
        let mut term = match next.token {
            Token::Number(number) if signs > 0 => {
                self.end = next.end;
                signs -= 1;
                Term::leaf(Expression::Number(number.negated().real))
            }
            _ => self.value(next)?,
        };
        term.depth = self.bounded(term.depth + signs, start)?;
        for _ in 0..signs {
            term.expression = Expression::Negate(term.expression.into());
        }
        Ok(term)
    }

    fn value(&mut self, next: Spanned<'t>) -> Parsed<Term> {
        match next.token {
            Token::Number(number) => {
                self.end = next.end;
                Ok(Term::leaf(Expression::Number(number.real)))
            }
            Token::Symbol('(') => {
                if self.nesting == limits::NESTING {
                    return Err(self.error(Kind::Nesting, next.start));
                }
                self.end = next.end;
                self.nesting += 1;
                let inside = self.sum()?;
                self.nesting -= 1;
                self.expect(')', "an operator (+ - * /) or ')'")?;
                Ok(inside)
            }
            Token::Word(word) if !RESERVED.contains(&word) => self.statistic(word, next),
            Token::Quoted(inside) => {
                let name: String = unquoted(inside).chars().take(limits::NAME_BYTES).collect();
                Err(self.error(Kind::BareName { name: Name(&name).to_string() }, next.start))
            }
            _ => Err(self.expected(VALUE)),
        }
    }

    /// Parses a statistic of this group, along groups, of an earlier group, or its cost.
    // Apart, so that the frames of parentheses in one another stay small.
    #[inline(never)]
    fn statistic(&mut self, word: &'t str, next: Spanned<'t>) -> Parsed<Term> {
        if let Some(along) = self.along(word, next)? {
            return Ok(Term::leaf(Expression::Along(along)));
        }
        if let Some(priced) = self.priced(word, next)? {
            return Ok(Term::leaf(Expression::Priced(priced)));
        }
        let (of, devices) = self.call(word, next)?;
        Ok(Term::leaf(match self.offset(&of, next.start)? {
            Some(earlier) => Expression::Offset(Offset { of, devices, earlier }),
            None => Expression::of(of, devices),
        }))
    }

    fn bounded(&self, depth: usize, at: usize) -> Parsed<usize> {
        if depth > limits::QUESTION_DEPTH { Err(self.error(Kind::Depth, at)) } else { Ok(depth) }
    }

    /// Parses the call that starts with `word`, the next token. Also returns the devices that it names.
    pub(super) fn call(&mut self, word: &'t str, next: Spanned<'t>) -> Parsed<(Call, Option<Scope>)> {
        self.end = next.end;
        let at = next.start;
        let open = self.at('(')?;
        let Some(known) = functions::named(word) else {
            if let (false, Token::Comparison(comparison)) = (open, self.peek()?.token) {
                return Err(self.error(Kind::Comparison { symbol: comparison.symbol() }, self.start()));
            }
            return Err(self.error(if open { unknown(word) } else { outside_of_a_call(word) }, at));
        };
        if !open {
            let functions::Named { word: name, arguments } = *known.named;
            return Err(self.error(Kind::FunctionName { name, arguments }, at));
        }
        if self.places.calls.len() == limits::CALLS {
            return Err(self.error(Kind::TooMany { of: "calls", limit: limits::CALLS }, at));
        }
        self.places.calls.push(at);
        self.accept('(')?;
        let first = self.operands();
        let call = (known.syntax.read)(self, word)?;
        Ok((call, self.scope_of_call(first)?))
    }

    /// Checks that a call that averages groups has them: a `by` clause other than `by window`.
    fn check_groups(&self, question: &Question) -> Parsed<()> {
        self.check_times(question)?;
        self.check_scopes(question)?;
        self.check_offsets(question)?;
        self.check_days(question)?;
        self.check_tariffs(question)?;
        if question.by.is_some_and(|by| by != By::Window) {
            return Ok(());
        }
        if let Some((function, at)) = self.places.along.first() {
            return Err(self.error(Kind::AlongWithoutGroups { function }, *at));
        }
        let mut calls = question.calls().zip(&self.places.calls);
        match calls.find(|(call, _)| call.syntax().across_groups) {
            Some((_, at)) => Err(self.error(Kind::NoGroups, *at)),
            None => Ok(()),
        }
    }
}

impl Parser<'_> {
    /// Refuses calls that need a whole time, where rows have several, and conditions on the time by window.
    fn check_times(&self, question: &Question) -> Parsed<()> {
        let place = |clause: Clause| self.places.clauses.iter().find(|(here, _)| *here == clause);
        if let Some((_, at)) = place(Clause::Times)
            && question.by == Some(By::Window)
        {
            return Err(self.error(Kind::TimesOfWindows, *at));
        }
        let mut calls = question.calls().zip(&self.places.calls);
        if question.grouping != Devices::Across
            && let Some((call, at)) = calls.find(|(call, _)| !call.two_devices().is_empty())
        {
            return Err(self.error(Kind::DevicesNamed { call: call.function() }, *at));
        }
        let recurs = question.by.as_ref().is_some_and(By::is_recurring);
        let by_days = question.needs_days();
        if let Some((call, at)) = self.places.along.first().filter(|_| recurs) {
            return Err(self.error(Kind::TornTime { call, clause: "the groups that recur" }, *at));
        }
        for (call, at) in question.calls().zip(&self.places.calls) {
            let is_weighted = call.needs().iter().any(crate::gathered::Need::is_weighted);
            let clause = match () {
                () if recurs && (is_weighted || call.syntax().across_groups) => "the groups that recur",
                () if is_weighted && !question.times.is_all() => "the condition on the time",
                () if is_weighted && by_days => "degree_days, and ask for it by itself",
                () => continue,
            };
            return Err(self.error(Kind::TornTime { call: call.function(), clause }, *at));
        }
        Ok(())
    }
}

impl Parser<'_> {
    /// Refuses daily means in parts of a day.
    fn check_days(&self, question: &Question) -> Parsed<()> {
        let mut calls = question.calls().zip(&self.places.calls);
        let Some((_, at)) = calls.find(|(call, _)| call.of().needs_days()) else { return Ok(()) };
        let is_short = match question.by {
            Some(By::Window | By::Hour | By::Every(_)) => true,
            Some(By::Recurring { first, second }) => {
                first == Cycle::HourOfDay || second == Some(Cycle::HourOfDay)
            }
            _ => false,
        };
        if is_short || question.times.time.is_some() {
            return Err(self.error(Kind::PartsOfDays, *at));
        }
        Ok(())
    }
}

fn unknown(word: &str) -> Kind {
    let is_days = matches!(word, "hdd" | "cdd" | "heating_degree_days" | "cooling_degree_days");
    if word == "mode" {
        return Kind::Mode;
    }
    let known: Vec<&str> = functions::names().chain(AlongGroups::WORDS).chain([Priced::WORD]).collect();
    let near = match word {
        "top" | "topk" | "largest" | "highest" => Some("top 3 devices of mean(x)"),
        "bottom" | "bottomk" | "smallest" | "lowest" => Some("bottom 3 devices of mean(x)"),
        "cost" | "costs" | "price" | "tou" | "bill" => Some("tariff(energy(power), tariff.toml)"),
        _ if is_days => Some("degree_days"),
        word => near(word, &known),
    };
    along::unknown(word, near, &known)
}
