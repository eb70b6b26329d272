print("wsbridge")
