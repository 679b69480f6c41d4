//! Tests of the client against brokers that speak the packets of the standard, or lie.

mod broker;
mod connection;
mod hostile;
