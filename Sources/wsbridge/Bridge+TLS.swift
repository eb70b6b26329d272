internal import BridgeCore
internal import BridgeIO

/// What clients are shown.
extension Bridge {
    /// Reads the certificate that the settings name, if they name one.
    ///
    /// - Throws: what is wrong with it, though it was right when the configuration was read.
    func loadCertificate() throws(ListenFailure) {
        guard let settings = configuration.http.tls else { return }
        do throws(TLSFailure) {
            let certificate = try ServerCertificate(settings)
            certificate.onRefusal = { [log] reason in
                log.warning(
                    "the certificate for clients was changed and cannot be used; the one before stays in use",
                    ["error": .text(reason)]
                )
            }
            certificate.onRenewal = { [unowned self] in
                log.info("clients are shown a new certificate")
                warnOfDates()
            }
            self.certificate = certificate
            warnOfDates()
        } catch {
            throw ListenFailure(error: error.error)
        }
    }

    /// Takes on what the settings, which have just been taken on, name now; clients that are there notice nothing.
    func updateCertificate(_ change: inout ConfigurationChange) {
        guard let certificate, let settings = configuration.http.tls else { return }
        do throws(TLSFailure) {
            guard try certificate.update(to: settings) else { return }
            change.noteRenewedCertificate()
            warnOfDates()
        } catch {
            certificate.onRefusal(error.error)
        }
    }

    /// Such a certificate is used all the same: clients that look at its dates say no by themselves.
    private func warnOfDates() {
        switch certificate?.validity {
        case .expired?: log.warning("the certificate for clients has expired")
        case .early?: log.warning("the certificate for clients is not valid yet")
        case .valid?, nil: break
        }
    }

    /// Says where clients find the bridge, and how they speak to it unless that is plain HTTP.
    func tellAddress(of server: HTTPServer) {
        var fields: LogFields = ["address": .text(server.address.text)]
        if certificate != nil { fields.append("scheme", .text("https")) }
        log.info("listening", fields)
    }
}
