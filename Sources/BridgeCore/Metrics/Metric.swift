/// A family of metrics, by who knows its figures.
package enum Metric: Sendable {
    case upstream(UpstreamMetric)
    case records(RecordMetric)
    case program(ProgramMetric)
    case http(HTTPMetric)
    case streams(StreamMetric)
    case store(StoreMetric)
    case process(ProcessMetric)

    /// In the order in which they are shown.
    package static let all =
        UpstreamMetric.allCases.map(Metric.upstream) + RecordMetric.allCases.map(Metric.records)
        + ProgramMetric.allCases.map(Metric.program) + HTTPMetric.allCases.map(Metric.http)
        + StreamMetric.allCases.map(Metric.streams) + StoreMetric.allCases.map(Metric.store)
        + ProcessMetric.allCases.map(Metric.process)

    package var family: MetricFamily {
        switch self {
        case .upstream(let metric): metric.family
        case .records(let metric): metric.family
        case .program(let metric): metric.family
        case .http(let metric): metric.family
        case .streams(let metric): metric.family
        case .store(let metric): metric.family
        case .process(let metric): metric.family
        }
    }
}
