extension Duration {
    /// The duration in milliseconds, the smallest unit of control calls.
    var wire: String {
        let (seconds, attoseconds) = components
        let (milliseconds, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000_000)
        // Away from zero: what has passed has passed completely. One beyond the server's limit stays beyond it.
        let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
        return isTooLong ? "\(seconds)s" : "\(product + milliseconds + rest.signum())ms"
    }
}
