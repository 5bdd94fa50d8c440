//! What a request costs (rules U6 to U8).

use crate::protocol::{Cost, Usage, model::ModelCost};

const PER_MILLION: f64 = 1e6;

/// The price of `usage` at a model's rates, in US dollars.
///
/// The highest tier whose threshold the whole input is strictly above prices the whole request. Cache writes that live
/// for an hour cost twice the input rate.
#[must_use]
pub fn price(rates: &ModelCost, usage: &Usage) -> Cost {
    price_scaled(rates, usage, 1.0)
}

/// [`price`] times a factor: service tiers are sold at a multiple.
#[must_use]
pub fn price_scaled(rates: &ModelCost, usage: &Usage, factor: f64) -> Cost {
    let size = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    let tier = rates
        .tiers
        .iter()
        .filter(|tier| size > tier.input_tokens_above)
        .max_by_key(|tier| tier.input_tokens_above)
        .map_or((rates.input, rates.output, rates.cache_read, rates.cache_write), |tier| {
            (tier.input, tier.output, tier.cache_read, tier.cache_write)
        });
    let (input_rate, output_rate, read_rate, write_rate) = tier;
    let part = |tokens: u64, rate: f64| tokens as f64 * rate * factor / PER_MILLION;
    let hour = usage.cache_write_1h.unwrap_or(0).min(usage.cache_write);
    let mut cost = Cost {
        input: part(usage.input, input_rate),
        output: part(usage.output, output_rate),
        cache_read: part(usage.cache_read, read_rate),
        cache_write: part(usage.cache_write - hour, write_rate) + part(hour, 2.0 * input_rate),
        total: 0.0,
        total_from_provider: Some(false),
    };
    cost.total = cost.input + cost.output + cost.cache_read + cost.cache_write;
    cost
}

/// The cost with the total that the provider billed.
#[must_use]
pub fn billed(mut cost: Cost, total: f64) -> Cost {
    cost.total = total;
    cost.total_from_provider = Some(true);
    cost
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::model::CostTier;

    fn rates() -> ModelCost {
        let tier = |above, input| CostTier {
            input_tokens_above: above,
            input,
            output: 20.0,
            cache_read: 2.0,
            cache_write: 4.0,
        };
        ModelCost {
            input: 1.0,
            output: 10.0,
            cache_read: 0.1,
            cache_write: 1.25,
            tiers: vec![tier(400, 8.0), tier(200, 4.0)],
        }
    }

    fn usage(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Usage {
        Usage { input, output, cache_read, cache_write, ..Usage::default() }.summed()
    }

    #[test]
    fn tiers_price_the_whole_request_when_the_whole_input_is_strictly_above() {
        let table = [
            (usage(100, 10, 50, 50), (100.0, 100.0, 5.0, 62.5)),
            (usage(100, 10, 50, 51), (400.0, 200.0, 100.0, 204.0)),
            (usage(401, 0, 0, 0), (3208.0, 0.0, 0.0, 0.0)),
            (usage(0, 1000, 0, 0), (0.0, 10_000.0, 0.0, 0.0)),
        ];
        for (usage, (input, output, read, write)) in table {
            let cost = price(&rates(), &usage);
            let close = |a: f64, b: f64| (a - b / 1e6).abs() < 1e-12;
            assert!(close(cost.input, input) && close(cost.output, output), "{cost:?}");
            assert!(close(cost.cache_read, read) && close(cost.cache_write, write), "{cost:?}");
            assert!(close(cost.total, input + output + read + write), "{cost:?}");
        }
    }

    #[test]
    fn hour_long_cache_writes_cost_twice_the_input_rate() {
        let usage = Usage { cache_write_1h: Some(40), ..usage(0, 0, 0, 100) };
        assert!((price(&rates(), &usage).cache_write - (60.0 * 1.25 + 40.0 * 2.0) / 1e6).abs() < 1e-12);
    }

    #[test]
    fn a_service_tier_scales_and_a_billed_total_wins() {
        let cost = price_scaled(&rates(), &usage(100, 0, 0, 0), 0.5);
        assert!((cost.total - 50.0 / 1e6).abs() < 1e-12);
        let cost = billed(cost, 0.5);
        assert_eq!((cost.total, cost.total_from_provider), (0.5, Some(true)));
    }
}
