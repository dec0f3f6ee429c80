// QR codes by libqrencode: this part is the only importer of it.
